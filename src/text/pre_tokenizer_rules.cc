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
    R"(\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293})"
    R"(\x{295}-\x{2af}\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a})"
    R"(\x{38c}\x{38e}-\x{3a1}\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556})"
    R"(\x{10a0}-\x{10c5}\x{13a0}-\x{13f5}\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf})"
    R"(\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d})"
    R"(\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b}\x{1f5d})"
    R"(\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4})"
    R"(\x{1fc6}-\x{1fcc}\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4})"
    R"(\x{1ff6}-\x{1ffc}\x{2102}\x{2107}\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124})"
    R"(\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139}\x{213c}-\x{213f})"
    R"(\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4})"
    R"(\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f})"
    R"(\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17})"
    R"(\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3})"
    R"(\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df})"
    R"(\x{1e900}-\x{1e943}]+)";
constexpr std::string_view kDeepSeekCjk = R"([\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+)";
constexpr std::string_view kCjkAndKana = R"([\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)";
constexpr std::string_view kBloomWords = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c})]+)";
// What the reference calls punctuation is of an older Unicode.
constexpr std::string_view kFalconMarks =
    R"((?:(?![)"
    R"(\x{61d}\x{9fd}\x{a76}\x{c77}\x{c84}\x{1b4e}-\x{1b4f}\x{1b7d}-\x{1b7f}\x{2e43}-\x{2e4f})"
    R"(\x{2e52}-\x{2e5d}\x{10d6e}\x{10ead}\x{10f55}-\x{10f59}\x{10f86}-\x{10f89})"
    R"(\x{113d4}-\x{113d5}\x{113d7}-\x{113d8}\x{1144b}-\x{1144f}\x{1145a}-\x{1145b}\x{1145d})"
    R"(\x{11660}-\x{1166c}\x{116b9}\x{1183b}\x{11944}-\x{11946}\x{119e2}\x{11a3f}-\x{11a46})"
    R"(\x{11a9a}-\x{11a9c}\x{11a9e}-\x{11aa2}\x{11b00}-\x{11b09}\x{11be1}\x{11c41}-\x{11c45})"
    R"(\x{11c70}-\x{11c71}\x{11ef7}-\x{11ef8}\x{11f43}-\x{11f4f}\x{11fff}\x{12ff1}-\x{12ff2})"
    R"(\x{16d6d}-\x{16d6f}\x{16e97}-\x{16e9a}\x{16fe2}\x{1e5ff}\x{1e95e}-\x{1e95f})"
    R"(])[\p{P}\x{111c9}\x{166d}$+<=>^`|~])+)";

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
    {kIsolate, R"([\r\n])"}, {kIsolate, kDeepSeekLetters}, {kIsolate, R"(\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+)"},
    {kIsolate, R"(\s+$)"},   {kIsolate, kDeepSeekCjk},     {kEachDigit, {}}};
constexpr SplitStep kDeepSeekCoderSteps[] = {
    {kIsolate, R"([\r\n])"}, {kIsolate, R"(\s?\p{L}+)"}, {kIsolate, R"(\s?\p{P}+)"},
    {kIsolate, kDeepSeekCjk}, {kEachDigit, {}}};
constexpr SplitStep kFalconSteps[] = {{kIsolate, kFalconMarks}, {kIsolate, kGpt2}, {kByteDigits, {}}};
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
    {kIsolate, R"([\x{ac00}-\x{d7a3}\x{3131}-\x{318e}]+|[\x{ff01}\x{2026}\x{201c}\x{201d}\x{2018}\x{2019}\x{2014}\x{ff1a}\x{ff1b}\x{ff0c}\x{3001}-\x{303f}\x{fe30}-\x{fe4f}]+|[\x{3105}-\x{312f}]+|[\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+)"},
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
