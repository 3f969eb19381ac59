#include "text/pre_tokenizer_rules.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pagoda::text {
namespace {

// clang-format off
#define CONTRACTION R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define SPACE_END R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
#define UPPER R"(\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M})"
#define LOWER R"(\p{Ll}\p{Lm}\p{Lo}\p{M})"
#define LEAD R"([^\r\n\p{L}\p{N}]?)"

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCl100k =
    CONTRACTION "|" LEAD R"(\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACE_END;
constexpr std::string_view kQwen2 =
    CONTRACTION "|" LEAD R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACE_END;
constexpr std::string_view kQwen35 =
    CONTRACTION "|" LEAD R"([\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" SPACE_END;
constexpr std::string_view kO200k =
    LEAD "[" UPPER "]*[" LOWER "]+" CONTRACTION "?|"
    LEAD "[" UPPER "]+[" LOWER "]*" CONTRACTION R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACE_END;
constexpr std::string_view kTekken =
    LEAD "[" UPPER "]*[" LOWER "]+|"
    LEAD "[" UPPER "]+[" LOWER R"(]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACE_END;
constexpr std::string_view kKimiK2 =
    R"(\p{Han}+|)"
    LEAD "(?:(?!\\p{Han})[" UPPER "])*(?:(?!\\p{Han})[" LOWER "])+" CONTRACTION "?|"
    LEAD "(?:(?!\\p{Han})[" UPPER "])+(?:(?!\\p{Han})[" LOWER "])*" CONTRACTION
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACE_END;
constexpr std::string_view kDeepSeek3Words =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|)" SPACE_END;
constexpr std::string_view kDeepSeekLetters =
    R"(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼι)"
    R"(ῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)";
constexpr std::string_view kDeepSeekCjk = R"([一-龥ࠀ-一가-퟿]+)";
constexpr std::string_view kCjkAndKana = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kBloomWords = R"( ?[^(\s|.,!?…。，、।۔،)]+)";

using enum SplitKind;
constexpr SplitStep kGpt2Steps[] = {{kIsolate, kGpt2}};
constexpr SplitStep kDigitsGpt2Steps[] = {{kEachDigit, {}}, {kIsolate, kGpt2}};
constexpr SplitStep kCl100kSteps[] = {{kIsolate, kCl100k}};
constexpr SplitStep kQwen2Steps[] = {{kIsolate, kQwen2}};
constexpr SplitStep kQwen35Steps[] = {{kIsolate, kQwen35}};
constexpr SplitStep kO200kSteps[] = {{kIsolate, kO200k}};
constexpr SplitStep kTekkenSteps[] = {{kIsolate, kTekken}};
constexpr SplitStep kKimiK2Steps[] = {{kIsolate, kKimiK2}};
constexpr SplitStep kDeepSeek3Steps[] = {
    {kIsolate, R"(\p{N}{1,3})"}, {kIsolate, kCjkAndKana}, {kIsolate, kDeepSeek3Words}};
constexpr SplitStep kDeepSeekLlmSteps[] = {
    {kIsolate, R"([\r\n])"}, {kIsolate, kDeepSeekLetters}, {kIsolate, R"(\s?[!-/:-~！-／：-～‘-‟　-。]+)"},
    {kIsolate, R"(\s+$)"},   {kIsolate, kDeepSeekCjk},     {kEachDigit, {}}};
constexpr SplitStep kDeepSeekCoderSteps[] = {
    {kIsolate, R"([\r\n])"}, {kIsolate, R"(\s?\p{L}+)"}, {kIsolate, R"(\s?\p{P}+)"},
    {kIsolate, kDeepSeekCjk}, {kEachDigit, {}}};
constexpr SplitStep kFalconSteps[] = {
    {kIsolate, R"([\p{P}$+<=>^`|~]+)"}, {kIsolate, kGpt2}, {kIsolate, R"(\p{N}+)"}, {kIsolate, "[0-9][0-9][0-9]"}};
constexpr SplitStep kDefaultSteps[] = {
    {kIsolate, R"([\p{P}$+<=>^|~]+)"}, {kIsolate, kGpt2}, {kIsolate, R"(\p{N}+)"}, {kIsolate, "[0-9][0-9][0-9]"}};
constexpr SplitStep kBloomSteps[] = {{kIsolate, kBloomWords}};
constexpr SplitStep kVikingSteps[] = {{kIsolate, kBloomWords}, {kEachDigit, {}}};
constexpr SplitStep kBailingSteps[] = {{kIsolate,
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"}};
constexpr SplitStep kSeedCoderSteps[] = {{kIsolate,
    CONTRACTION "|" LEAD R"(\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" SPACE_END}};
constexpr SplitStep kExaoneMoeSteps[] = {{kIsolate,
    CONTRACTION "|" LEAD R"((?:\p{L}\p{M}*+(?: \p{L}\p{M}*+)*+)++|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"}};
constexpr SplitStep kMiniCpm5Steps[] = {{kIsolate, R"(\p{N}{1,3})"}, {kIsolate,
    CONTRACTION "|" LEAD R"(\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACE_END}};
constexpr SplitStep kUfakzekaSteps[] = {{kIsolate,
    LEAD R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" SPACE_END}};
constexpr SplitStep kLagunaSteps[] = {{kIsolate, R"([^\n]+|[\n]+)"}, {kIsolate, kQwen2}};
constexpr SplitStep kJais2Steps[] = {{kIsolate,
    CONTRACTION "|" LEAD R"(\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)"
    R"(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)"
    R"(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})"}};
constexpr SplitStep kYoutuSteps[] = {
    {kIsolate, R"([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)"},
    {kIsolate, LEAD "[" UPPER "]*[" LOWER "]+" CONTRACTION "?|" LEAD "[" UPPER "]+[" LOWER "]*" CONTRACTION
               R"(?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" SPACE_END}};
// \d{1,3}(?=(?:\d{3})*\b), told without its quadratic look-ahead: the run must end at a word's end.
constexpr SplitStep kTinyAyaSteps[] = {
    {kDigitTriples, R"(\d++(?![\p{L}\p{M}\p{Nd}\p{Pc}]))"}, {kIsolate, kO200k}};
constexpr SplitStep kSuperBpeSteps[] = {{kIsolate, R"(\p{N}+)"}, {kDigitTriples, R"(\d++)"}};
constexpr SplitStep kChameleonSteps[] = {
    {kIsolate, "<sentinel:[0-9]+>"}, {kIsolate, "(?:IMGIMG)(?:(?:A|B|C|D|E|F|G|H|I){1,4})Z"},
    {kIsolate, R"([\t\n]|    |  )"}, {kEachDigit, {}}, {kIsolate, R"([\p{P}!-/:-@\[-`{-~])"}, {kIsolate, kGpt2}};

// Columns: name, steps, nfc, whole_words_first, add_bos.
constexpr PreTokenizerRule kRules[] = {
    {"default", kDefaultSteps, false, false, false},
    // GPT-2's own words
    {"gpt-2", kGpt2Steps, false, false, false},
    {"phi-2", kGpt2Steps, false, false, false},
    {"mpt", kGpt2Steps, true, false, false},    // GPT-NeoX's tokenizer
    {"olmo", kGpt2Steps, true, false, false},   // GPT-NeoX's tokenizer
    {"jais", kGpt2Steps, false, false, false},
    {"exaone4", kGpt2Steps, false, false, false},
    {"trillion", kGpt2Steps, false, false, false},
    {"granite-docling", kGpt2Steps, false, false, false},
    {"gigachat", kGpt2Steps, false, false, false},
    {"a.x-4.0", kGpt2Steps, false, false, false},
    {"mellum", kGpt2Steps, false, false, false},
    // the same after single digits
    {"smollm", kDigitsGpt2Steps, false, false, false},
    {"starcoder", kDigitsGpt2Steps, false, false, false},
    {"refact", kDigitsGpt2Steps, false, false, false},
    {"command-r", kDigitsGpt2Steps, true, false, false},
    {"codeshell", kDigitsGpt2Steps, false, false, false},
    {"exaone", kDigitsGpt2Steps, false, false, false},
    {"minerva-7b", kDigitsGpt2Steps, false, false, false},
    {"mellum2", kDigitsGpt2Steps, false, false, false},
    // cl100k
    {"llama-bpe", kCl100kSteps, false, true, true},
    {"llama3", kCl100kSteps, false, true, true},
    {"llama-v3", kCl100kSteps, false, true, true},
    {"falcon3", kCl100kSteps, false, true, true},
    {"falcon-h1", kCl100kSteps, false, true, true},
    {"pixtral", kCl100kSteps, false, true, true},
    {"midm-2.0", kCl100kSteps, false, true, true},
    {"lfm2", kCl100kSteps, false, true, true},
    {"dbrx", kCl100kSteps, false, false, false},
    {"smaug-bpe", kCl100kSteps, false, false, false},
    {"chatglm-bpe", kCl100kSteps, false, false, false},
    {"glm4", kCl100kSteps, false, true, false},
    {"glm5", kCl100kSteps, false, true, false},
    {"jais-2", kJais2Steps, false, false, false},
    {"minicpm5", kMiniCpm5Steps, false, true, false},
    // Qwen
    {"qwen2", kQwen2Steps, true, false, false},
    {"deepseek-r1-qwen", kQwen2Steps, true, false, false},
    {"megrez", kQwen2Steps, true, false, false},
    {"stablelm2", kQwen2Steps, false, false, false},
    {"hunyuan", kQwen2Steps, false, false, false},
    {"solar-open", kQwen2Steps, false, false, false},
    {"kormo", kQwen2Steps, false, false, false},
    {"grok-2", kQwen2Steps, false, false, false},
    {"qwen35", kQwen35Steps, true, false, false},
    {"ufakzeka", kUfakzekaSteps, false, false, false},
    {"laguna", kLagunaSteps, false, false, false},
    // o200k and its relatives
    {"gpt-4o", kO200kSteps, false, false, false},
    {"llama4", kO200kSteps, false, false, false},
    {"kanana2", kO200kSteps, false, false, false},
    {"minimax-m2", kO200kSteps, false, false, false},
    {"tekken", kTekkenSteps, false, true, true},
    {"tiny_aya", kTinyAyaSteps, false, false, false},
    {"cohere2moe", kTinyAyaSteps, false, false, false},
    {"kimi-k2", kKimiK2Steps, false, false, false},
    {"youtu", kYoutuSteps, false, true, false},
    // DeepSeek
    {"deepseek-llm", kDeepSeekLlmSteps, false, false, false},
    {"deepseek-coder", kDeepSeekCoderSteps, false, false, false},
    {"deepseek-v3", kDeepSeek3Steps, false, false, false},
    {"hunyuan-dense", kDeepSeek3Steps, false, false, false},
    {"joyai-llm", kDeepSeek3Steps, false, false, false},
    // others
    {"falcon", kFalconSteps, false, false, false},
    {"bloom", kBloomSteps, false, false, false},
    {"poro-chat", kBloomSteps, false, false, false},
    {"gpt3-finnish", kBloomSteps, false, false, false},
    {"viking", kVikingSteps, false, false, false},
    {"bailingmoe", kBailingSteps, false, false, false},
    {"bailingmoe2", kBailingSteps, false, false, false},
    {"llada-moe", kBailingSteps, false, false, false},
    {"seed-coder", kSeedCoderSteps, false, false, false},
    {"exaone-moe", kExaoneMoeSteps, false, false, false},
    {"superbpe", kSuperBpeSteps, false, false, false},
    {"chameleon", kChameleonSteps, false, false, true},
};
#undef CONTRACTION
#undef SPACE_END
#undef UPPER
#undef LOWER
#undef LEAD
// clang-format on

}  // namespace

std::span<const PreTokenizerRule> pre_tokenizer_rules() {
  return kRules;
}

const PreTokenizerRule* find_pre_tokenizer_rule(std::string_view name) {
  const auto* rule =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const auto& r) { return r.name == name; });
  return rule == std::end(kRules) ? nullptr : rule;
}

std::string known_pre_tokenizers() {
  std::vector<std::string_view> names;
  for (const PreTokenizerRule& rule : kRules) names.push_back(rule.name);
  std::sort(names.begin(), names.end());
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

}  // namespace pagoda::text
