// Our forward pass against the goldens that transformers made (tools/make_goldens.py).
#include <gtest/gtest.h>

#include <cmath>

#include "golden_comparison.h"

namespace pagoda::model {
namespace {

struct Case {
  const char* golden;
  const char* file;  // of the real model; nullptr: GOLDEN.gguf in tests/model/data
};

const Case kTinyModels[] = {
    {"tiny_llama", nullptr}, {"tiny_llama_scaled", nullptr}, {"tiny_gemma3", nullptr}};
const Case kRealModels[] = {{"smollm2_q4_1", "SmolLM2-135M-Instruct.Q4_1.gguf"},
                            {"gemma3_270m_q4_k_m", "gemma-3-270m-q4_k_m.gguf"}};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.golden;
}
std::string case_name(const testing::TestParamInfo<Case>& parameter) {
  return parameter.param.golden;
}

constexpr double kMaxDeltaLogitF32 = 1e-3;
constexpr int kWholePrompt = 1024;
constexpr int kStep = 128;
constexpr size_t kAllWindows = 1000;
constexpr size_t kSomeWindows = 6;  // 3072 tokens: enough for a share of agreement

class TinyGolden : public testing::TestWithParam<Case> {
 protected:
  Golden golden_ = read_golden(GetParam().golden);
  std::string path_ = test_data(std::string(GetParam().golden) + ".gguf");
};

class RealGolden : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    path_ = real_model(GetParam().file);
    if (path_.empty()) GTEST_SKIP() << GetParam().file << " is not in the cache: tools/fetch.py gets it";
    golden_ = read_golden(GetParam().golden);
  }
  Golden golden_;
  std::string path_;
};

void print(const std::string& name, const PromptDifference& difference) {
  std::printf(
      "%-14s %3d positions: max |delta logit| %.2e, log sum %.2e; top 20 |delta log p| p99 %.4f max %.4f\n",
      name.c_str(), difference.positions, difference.max_delta_logit, difference.max_delta_log_sum,
      difference.top20_p99(), difference.top20_max());
}

// Over all prompts.
PromptDifference compare_prompts(const Golden& golden, ModelUnderTest& model, int step_tokens) {
  PromptDifference all;
  for (const GoldenPrompt& prompt : golden.prompts) {
    const PromptDifference difference = compare_prompt(golden, prompt, model, step_tokens);
    print(prompt.name, difference);
    all.add(difference);
  }
  return all;
}

void print(const TextDifference& difference, const GoldenText& text) {
  std::printf(
      "%d tokens: top-1 %.4f; perplexity %.4f, reference %.4f, llama.cpp %.4f; nll %.3f, reference %.3f\n",
      difference.tokens, difference.top1_agreement, difference.perplexity_second_half,
      text.perplexity_second_half, text.llama_cpp_second_half, difference.nll_all, text.nll_all);
}

TEST_P(TinyGolden, F32InWholePromptsAndInSteps) {
  ModelUnderTest model(path_, Precision::kFloat32);
  for (const int step : {kWholePrompt, 33, 16, 1}) {
    const PromptDifference difference = compare_prompts(golden_, model, step);
    EXPECT_LE(difference.max_delta_logit, kMaxDeltaLogitF32) << "in steps of " << step;
    EXPECT_LE(difference.max_delta_log_sum, kMaxDeltaLogitF32) << "in steps of " << step;
  }
  const TextDifference text = compare_text(golden_, model, kStep, kAllWindows);
  print(text, golden_.text);
  EXPECT_NEAR(text.nll_all, golden_.text.nll_all, 1e-5 * golden_.text.nll_all);
}

// A random model has no peaks for rounding to hide behind, so this bounds the average only.
TEST_P(TinyGolden, RoundedPrecisionsStayNear) {
  for (const Precision precision : {Precision::kBFloat16, Precision::kInt8}) {
    ModelUnderTest model(path_, precision);
    const TextDifference text = compare_text(golden_, model, kStep, kAllWindows);
    print(text, golden_.text);
    EXPECT_NEAR(text.nll_all, golden_.text.nll_all, 0.01 * golden_.text.nll_all);
    EXPECT_GE(text.top1_agreement, precision == Precision::kBFloat16 ? 0.95 : 0.85);
  }
}

TEST_P(RealGolden, F32) {
  ModelUnderTest model(path_, Precision::kFloat32);
  const PromptDifference difference = compare_prompts(golden_, model, kStep);
  EXPECT_LE(difference.max_delta_logit, kMaxDeltaLogitF32);
  EXPECT_LE(difference.max_delta_log_sum, kMaxDeltaLogitF32);
}

TEST_P(RealGolden, BFloat16) {
  ModelUnderTest model(path_, Precision::kBFloat16);
  PromptDifference all;
  for (const GoldenPrompt& prompt : golden_.prompts) {
    const PromptDifference difference = compare_prompt(golden_, prompt, model, kStep);
    print(prompt.name, difference);
    if (!prompt.sharp) {
      all.add(difference);
    } else {
      EXPECT_LE(difference.top20_p99(), prompt.bf16_top20_delta_p99) << prompt.name;
    }
  }
  print("together", all);
  EXPECT_LE(all.top20_p99(), 0.15);
  EXPECT_LE(all.top20_max(), golden_.bf16_top20_delta_max);
  const TextDifference text = compare_text(golden_, model, kStep, kSomeWindows);
  print(text, golden_.text);
  EXPECT_GE(text.top1_agreement, 0.985);
}

TEST_P(RealGolden, Int8) {
  ModelUnderTest model(path_, Precision::kInt8);
  print("together", compare_prompts(golden_, model, kStep));
  const TextDifference text = compare_text(golden_, model, kStep, kAllWindows);
  print(text, golden_.text);
  EXPECT_GE(text.tokens, 4000);
  EXPECT_GE(text.top1_agreement, 0.94);
  EXPECT_NEAR(text.perplexity_second_half, golden_.text.perplexity_second_half,
              0.01 * golden_.text.perplexity_second_half);
  EXPECT_LE(text.perplexity_second_half, 1.005 * golden_.text.llama_cpp_second_half);
}

TEST_P(RealGolden, Int8Kv) {
  ModelUnderTest model(path_, Precision::kInt8);
  model.use_kv(DType::kI8);
  const TextDifference text = compare_text(golden_, model, kStep, kAllWindows);
  print(text, golden_.text);
  EXPECT_GE(text.top1_agreement, 0.94);
  EXPECT_NEAR(text.perplexity_second_half, golden_.text.perplexity_second_half,
              0.01 * golden_.text.perplexity_second_half);
}

INSTANTIATE_TEST_SUITE_P(Tiny, TinyGolden, testing::ValuesIn(kTinyModels), case_name);
INSTANTIATE_TEST_SUITE_P(Real, RealGolden, testing::ValuesIn(kRealModels), case_name);

}  // namespace
}  // namespace pagoda::model
