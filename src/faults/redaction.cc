#include "faults/redaction.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <vector>

#include "base/check.h"

namespace pagoda::faults {
namespace {

// What is a secret: the group named `secret` is replaced, the rest of the match stays.
constexpr std::array<std::string_view, 7> kSecrets = {
    // By their own form: Hugging Face, OpenAI and others, GitHub, GitLab, Slack, NVIDIA, AWS, Google.
    R"((?<secret>\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|nvapi-[\w-]{16,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{30,})))",
    // JSON web tokens.
    R"((?<secret>\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{4,}))",
    R"((?i)\b(?:bearer|basic)\s+(?<secret>[A-Za-z0-9._~+/=-]{8,}))",
    // user:password@host
    R"(://[^/\s:@]{1,100}:(?<secret>[^@\s/]{1,200})@)",
    // NAME=value, "name": "value", --name value; not max_tokens and its like.
    R"re((?i)(?<![a-z])(?:[a-z0-9]+[-_])*(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|auth[-_]?key|token|passwd|password|passphrase|secret|credentials?)["']?\s{0,4}[=:]\s{0,4}["']?(?<secret>[^\s"',;]{3,}))re",
    R"((?i)--(?:[a-z0-9]+-)*(?:api-key|token|password|secret)\s+(?<secret>[^\s-][^\s"',;]{2,}))",
    R"((?i)serial(?: number)?\s{0,80}[:=]\s{0,4}(?<secret>[0-9A-Z]{6,20})\b)",
};
constexpr std::string_view kRemoved = "[removed]";
constexpr size_t kLongestLine = 65536;  // longer ones are cleaned in pieces

}  // namespace

struct Redaction::Rules {
  struct Rule {
    pcre2_code* code;
    uint32_t secret;
  };
  std::vector<Rule> rules;
  pcre2_match_data* match = pcre2_match_data_create(16, nullptr);

  Rules() {
    for (const std::string_view text : kSecrets) {
      int error = 0;
      PCRE2_SIZE at = 0;
      pcre2_code* code =
          pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, &error, &at, nullptr);
      PAGODA_CHECK(code != nullptr, "an expression for secrets is malformed");
      pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
      rules.push_back({code, static_cast<uint32_t>(pcre2_substring_number_from_name(
                                 code, reinterpret_cast<PCRE2_SPTR>("secret")))});
    }
  }
  ~Rules() {
    for (const Rule& rule : rules) pcre2_code_free(rule.code);
    pcre2_match_data_free(match);
  }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;
};

Redaction::Redaction() : rules_(std::make_unique<Rules>()) {}
Redaction::~Redaction() = default;

std::string Redaction::clean_line(std::string_view line) {
  if (line.find("-----BEGIN ") != std::string_view::npos &&
      line.find("PRIVATE KEY") != std::string_view::npos) {
    in_private_key_ = true;
    ++removed_;
  }
  if (in_private_key_) {
    in_private_key_ = line.find("-----END ") == std::string_view::npos;
    return std::string(kRemoved);
  }
  std::string text(line);
  for (const Rules::Rule& rule : rules_->rules) {
    size_t from = 0;
    while (from < text.size() && pcre2_match(rule.code, reinterpret_cast<PCRE2_SPTR>(text.data()),
                                             text.size(), from, 0, rules_->match, nullptr) > 0) {
      const PCRE2_SIZE* at = pcre2_get_ovector_pointer(rules_->match);
      const size_t begin = at[2 * rule.secret], end = at[2 * rule.secret + 1];
      const bool done_already = std::string_view(text).substr(begin, kRemoved.size()) == kRemoved;
      from = done_already ? end : begin + kRemoved.size();
      if (done_already) continue;
      text.replace(begin, end - begin, kRemoved);
      ++removed_;
    }
  }
  return text;
}

std::string Redaction::clean(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t newline = text.substr(0, kLongestLine).find('\n');
    const std::string_view line = text.substr(0, newline == std::string_view::npos ? kLongestLine : newline);
    out += clean_line(line);
    text.remove_prefix(line.size());
    if (newline == std::string_view::npos) continue;
    out += '\n';
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace pagoda::faults
