#include "text/unicode_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/check.h"
#include "base/format.h"
#include "text/unicode_classes.h"

namespace pagoda::text {
namespace {

// What a thread needs to match: kept, because making it costs more than matching a word.
struct MatchScratch {
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(32 << 10, 8 << 20, nullptr);

  MatchScratch() {
    PAGODA_CHECK(data != nullptr && context != nullptr && stack != nullptr, "out of memory");
    pcre2_jit_stack_assign(context, nullptr, stack);
  }
  MatchScratch(const MatchScratch&) = delete;
  MatchScratch& operator=(const MatchScratch&) = delete;
  ~MatchScratch() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
  }
};

MatchScratch& scratch() {
  thread_local MatchScratch instance;
  return instance;
}

}  // namespace

struct UnicodeRegex::Program {
  pcre2_code* code = nullptr;
  ~Program() { pcre2_code_free(code); }
};

UnicodeRegex::UnicodeRegex(std::unique_ptr<Program> program) : program_(std::move(program)) {}
UnicodeRegex::UnicodeRegex(UnicodeRegex&&) noexcept = default;
UnicodeRegex& UnicodeRegex::operator=(UnicodeRegex&&) noexcept = default;
UnicodeRegex::~UnicodeRegex() = default;

Result<UnicodeRegex> UnicodeRegex::compile(std::string_view pattern) {
  const std::string spelled = spell_out_classes(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto program = std::make_unique<Program>();
  program->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(),
                                PCRE2_UTF | PCRE2_UCP | PCRE2_DOLLAR_ENDONLY, &error, &offset, nullptr);
  if (program->code == nullptr) {
    PCRE2_UCHAR message[128];
    pcre2_get_error_message(error, message, sizeof message);
    return fail(ErrorCode::kInternal, format("regular expression {}: {} at {}", pattern,
                                             reinterpret_cast<const char*>(message), offset));
  }
  // Without a JIT (a hardened kernel may forbid it) PCRE2 interprets, with the same answers.
  pcre2_jit_compile(program->code, PCRE2_JIT_COMPLETE);
  return UnicodeRegex(std::move(program));
}

UnicodeRegex::Match UnicodeRegex::find(std::string_view text, size_t from) const {
  MatchScratch& own = scratch();
  const int rc = pcre2_match(program_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                             PCRE2_NO_UTF_CHECK, own.data, own.context);
  if (rc < 0) return {};
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(own.data);
  return {bounds[0], bounds[1], true};
}

}  // namespace pagoda::text
