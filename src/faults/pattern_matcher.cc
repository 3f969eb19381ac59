#include "faults/pattern_matcher.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <hs/hs.h>
#include <pcre2.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/format.h"

namespace pagoda::faults {
namespace {

std::vector<LogPattern> all_patterns() {
  std::vector<LogPattern> all;
  // Containers first: their sentences wrap those of the driver.
  for (const auto& table : {container_patterns(), kernel_patterns(), cuda_patterns(), serving_patterns()})
    all.insert(all.end(), table.begin(), table.end());
  return all;
}

// A junk line may make an expression backtrack for long: so many steps, then it does not match.
constexpr uint32_t kMatchSteps = 200'000;

struct Expression {
  pcre2_code* code = nullptr;
  std::vector<std::pair<std::string_view, uint32_t>> groups;  // name (lasting_name()), number
};

Expression compile(std::string_view text) {
  Expression result;
  int error = 0;
  PCRE2_SIZE at = 0;
  result.code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                              PCRE2_CASELESS | PCRE2_DUPNAMES | PCRE2_DOTALL, &error, &at, nullptr);
  PAGODA_CHECK(result.code != nullptr, "an expression of the pattern tables is malformed");
  pcre2_jit_compile(result.code, PCRE2_JIT_COMPLETE);
  uint32_t count = 0, entry_bytes = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(result.code, PCRE2_INFO_NAMECOUNT, &count);
  pcre2_pattern_info(result.code, PCRE2_INFO_NAMEENTRYSIZE, &entry_bytes);
  pcre2_pattern_info(result.code, PCRE2_INFO_NAMETABLE, &table);
  for (uint32_t i = 0; i < count; ++i, table += entry_bytes) {
    result.groups.emplace_back(lasting_name(reinterpret_cast<const char*>(table + 2)),
                               (table[0] << 8) | table[1]);
  }
  return result;
}

}  // namespace

struct PatternMatcher::State {
  std::vector<std::string> literals;        // lower case, distinct
  std::vector<std::vector<uint32_t>> rows;  // by literal
  size_t first_mark = 0;
  std::vector<Expression> expressions;  // by row
  pcre2_match_context* context = nullptr;
  hs_database_t* database = nullptr;
  hs_scratch_t* scratch = nullptr;  // the pattern of those that are cloned from it

  ~State() {
    for (Expression& e : expressions) pcre2_code_free(e.code);
    pcre2_match_context_free(context);
    hs_free_scratch(scratch);
    hs_free_database(database);
  }
  uint32_t literal(std::string_view text);
  Status compile_literals();
};

uint32_t PatternMatcher::State::literal(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const auto found = std::find(literals.begin(), literals.end(), lower);
  if (found != literals.end()) return static_cast<uint32_t>(found - literals.begin());
  literals.push_back(std::move(lower));
  rows.emplace_back();
  return static_cast<uint32_t>(literals.size() - 1);
}

Status PatternMatcher::State::compile_literals() {
  std::vector<const char*> texts;
  std::vector<unsigned> flags, ids;
  std::vector<size_t> lengths;
  for (const std::string& text : literals) {
    texts.push_back(text.c_str());
    lengths.push_back(text.size());
    flags.push_back(HS_FLAG_CASELESS);
    ids.push_back(static_cast<unsigned>(ids.size()));
  }
  hs_compile_error_t* error = nullptr;
  const hs_error_t done =
      hs_compile_lit_multi(texts.data(), flags.data(), ids.data(), lengths.data(),
                           static_cast<unsigned>(texts.size()), HS_MODE_BLOCK, nullptr, &database, &error);
  if (done != HS_SUCCESS) {
    const std::string why = error != nullptr ? error->message : "no memory";
    hs_free_compile_error(error);
    return fail(ErrorCode::kInternal, format("the log patterns cannot be compiled: {}", why));
  }
  if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS)
    return fail(ErrorCode::kResourceExhausted, "no memory for the log scanner");
  return {};
}

struct PatternMatcher::Scratch::Room {
  hs_scratch_t* scan = nullptr;
  pcre2_match_data* match = nullptr;
  ~Room() {
    hs_free_scratch(scan);
    pcre2_match_data_free(match);
  }
};
PatternMatcher::Scratch::~Scratch() = default;

std::unique_ptr<PatternMatcher::Scratch> PatternMatcher::make_scratch() const {
  std::unique_ptr<Scratch> made(new Scratch);
  made->room_ = std::make_unique<Scratch::Room>();
  made->room_->match = pcre2_match_data_create(32, nullptr);
  PAGODA_CHECK(made->room_->match != nullptr, "no memory for a scan");
  PAGODA_CHECK(hs_clone_scratch(state_->scratch, &made->room_->scan) == HS_SUCCESS, "no memory for a scan");
  return made;
}

PatternMatcher::PatternMatcher() : state_(std::make_unique<State>()) {}
PatternMatcher::~PatternMatcher() = default;

std::span<const LogPattern> PatternMatcher::patterns() {
  static const std::vector<LogPattern> kAll = all_patterns();
  return kAll;
}

Result<std::unique_ptr<PatternMatcher>> PatternMatcher::create(std::vector<std::string_view> marks) {
  if (hs_valid_platform() != HS_SUCCESS)
    return fail(ErrorCode::kUnsupported, "this CPU cannot scan logs: it lacks SSSE3, which Hyperscan needs");
  std::unique_ptr<PatternMatcher> made(new PatternMatcher);
  State& state = *made->state_;
  const auto rows = patterns();
  for (uint32_t row = 0; row < rows.size(); ++row) {
    state.rows[state.literal(rows[row].literal)].push_back(row);
    state.expressions.push_back(rows[row].expression.empty() ? Expression{} : compile(rows[row].expression));
  }
  state.first_mark = state.literals.size();
  for (const std::string_view mark : marks) state.literal(mark);
  state.context = pcre2_match_context_create(nullptr);
  if (state.context == nullptr) return fail(ErrorCode::kResourceExhausted, "no memory for the log scanner");
  pcre2_set_match_limit(state.context, kMatchSteps);
  PAGODA_TRY(state.compile_literals());
  return made;
}

void PatternMatcher::scan(std::string_view block, Scratch& scratch, std::vector<Hit>& hits) const {
  hits.clear();
  const auto on_match = [](unsigned id, unsigned long long, unsigned long long to, unsigned, void* context) {
    static_cast<std::vector<Hit>*>(context)->push_back({id, to});
    return 0;
  };
  hs_scan(state_->database, block.data(), static_cast<unsigned>(block.size()), 0, scratch.room_->scan,
          on_match, &hits);
}

bool PatternMatcher::is_mark(uint32_t literal) const {
  return literal >= state_->first_mark;
}

const std::vector<uint32_t>& PatternMatcher::rows_of(uint32_t literal) const {
  return state_->rows[literal];
}

bool PatternMatcher::match(uint32_t row, std::string_view line, Scratch& scratch, Fields& fields) const {
  const Expression& expression = state_->expressions[row];
  if (expression.code == nullptr) return true;
  const int found = pcre2_match(expression.code, reinterpret_cast<PCRE2_SPTR>(line.data()), line.size(), 0, 0,
                                scratch.room_->match, state_->context);
  if (found < 0) return false;
  const PCRE2_SIZE* at = pcre2_get_ovector_pointer(scratch.room_->match);
  const uint32_t pairs = pcre2_get_ovector_count(scratch.room_->match);
  for (const auto& [name, number] : expression.groups) {
    if (number >= pairs || at[2 * number] == PCRE2_UNSET) continue;
    fields.set(name, std::string(line.substr(at[2 * number], at[2 * number + 1] - at[2 * number])));
  }
  return true;
}

}  // namespace pagoda::faults
