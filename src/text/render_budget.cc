#include "text/render_budget.h"

#include <jinja/lexer.h>

#include <vector>

#include "base/format.h"
#include "text/utf8.h"

namespace pagoda::text {
namespace {

thread_local RenderBudget* current = nullptr;

constexpr size_t kLongestSource = 1 << 20;
constexpr int kDeepestBrackets = 64;
constexpr int kDeepestBlocks = 200;
constexpr int kLongestTag = 4000;  // tokens

// How deep the parser stands inside of blocks; every elif stands in the one before.
class BlockDepth {
 public:
  void see(const jinja::token& token) {
    using enum jinja::token::type;
    if (after_open_ && token.t == identifier) open_or_close(token.value);
    after_open_ = token.t == open_statement;
    if (token.t == equals) set_without_value_ = false;
    if (token.t == close_statement && set_without_value_) {
      push();
      set_without_value_ = false;
    }
  }
  int depth() const { return depth_; }

 private:
  void open_or_close(const std::string& name) {
    set_without_value_ = name == "set";
    if (name == "if" || name == "for" || name == "macro" || name == "call" || name == "filter") push();
    if (name == "elif" && !blocks_.empty()) {
      ++blocks_.back();
      ++depth_;
    }
    if (name.starts_with("end") && name != "endgeneration" && !blocks_.empty()) {
      depth_ -= blocks_.back();
      blocks_.pop_back();
    }
  }
  void push() {
    blocks_.push_back(1);
    ++depth_;
  }

  std::vector<int> blocks_;  // levels that each open block stands for
  int depth_ = 0;
  bool after_open_ = false;
  bool set_without_value_ = false;
};

}  // namespace

RenderBudget::RenderBudget(const RenderLimits& limits, size_t input_bytes)
    : limits_(limits), deadline_(std::chrono::steady_clock::now() + limits.time), outer_(current) {
  limits_.bytes += 64 * input_bytes;
  limits_.steps += input_bytes;
  stack_base_ = reinterpret_cast<const char*>(__builtin_frame_address(0));
  current = this;
}

RenderBudget::~RenderBudget() {
  current = outer_;
}

void RenderBudget::spend(size_t bytes) {
  if (current == nullptr) return;
  ++current->steps_;
  current->bytes_ += bytes;
  current->check(reinterpret_cast<const char*>(__builtin_frame_address(0)));
}

void RenderBudget::check(const char* here) {
  if (steps_ > limits_.steps) {
    throw BudgetExceeded{format("the chat template takes more than {} steps", limits_.steps)};
  }
  if (bytes_ > limits_.bytes) {
    throw BudgetExceeded{format("the chat template makes more than {} MiB of text", limits_.bytes >> 20)};
  }
  if (stack_base_ - here > static_cast<std::ptrdiff_t>(limits_.stack_bytes)) {
    throw BudgetExceeded{"the chat template recurses too deeply"};
  }
  if (std::chrono::steady_clock::now() > deadline_) {
    throw BudgetExceeded{format("the chat template takes longer than {} s", limits_.time.count() / 1000)};
  }
}

Status check_template_source(const std::string& source) {
  const auto refuse = [](const std::string& why) {
    return fail(ErrorCode::kInvalidArgument, as_valid_utf8("chat template: " + why), "chat_template");
  };
  if (source.size() > kLongestSource) return refuse(format("longer than {} bytes", kLongestSource));
  jinja::lexer_result lexed;
  try {
    lexed = jinja::lexer().tokenize(source);
  } catch (const std::exception& fault) {
    return refuse(fault.what());
  }
  int brackets = 0, words = 0;
  BlockDepth blocks;
  for (const jinja::token& token : lexed.tokens) {
    using enum jinja::token::type;
    const bool opens_tag = token.t == open_statement || token.t == open_expression;
    words = opens_tag ? 0 : words + 1;
    if (opens_tag) brackets = 0;
    if (token.t == open_paren || token.t == open_square_bracket || token.t == open_curly_bracket) ++brackets;
    if (token.t == close_paren || token.t == close_square_bracket || token.t == close_curly_bracket)
      --brackets;
    blocks.see(token);
    if (brackets > kDeepestBrackets)
      return refuse(format("brackets nested more than {} deep", kDeepestBrackets));
    if (blocks.depth() > kDeepestBlocks)
      return refuse(format("blocks nested more than {} deep", kDeepestBlocks));
    if (words > kLongestTag) return refuse(format("a tag of more than {} words", kLongestTag));
  }
  return {};
}

}  // namespace pagoda::text
