#include "engine/sampling_params.h"

#include <gtest/gtest.h>

#include <limits>

namespace pagoda::engine {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(SamplingParams, EachFieldIsRanged) {
  const auto field = [](auto change) {
    SamplingParams params;
    change(params);
    const auto status = check_sampling(params, 100);
    return status ? std::string("none") : status.error().param;
  };
  EXPECT_EQ(field([](auto&) {}), "none");
  EXPECT_EQ(field([](auto& p) { p.temperature = -1; }), "temperature");
  EXPECT_EQ(field([](auto& p) { p.temperature = kNan; }), "temperature");
  EXPECT_EQ(field([](auto& p) { p.top_p = 0; }), "top_p");
  EXPECT_EQ(field([](auto& p) { p.top_p = 1.01f; }), "top_p");
  EXPECT_EQ(field([](auto& p) { p.top_k = -2; }), "top_k");
  EXPECT_EQ(field([](auto& p) { p.top_k = -1; }), "none");
  EXPECT_EQ(field([](auto& p) { p.min_p = 2; }), "min_p");
  EXPECT_EQ(field([](auto& p) { p.repetition_penalty = 0; }), "repetition_penalty");
  EXPECT_EQ(field([](auto& p) { p.presence_penalty = 3; }), "presence_penalty");
  EXPECT_EQ(field([](auto& p) { p.frequency_penalty = kNan; }), "frequency_penalty");
  EXPECT_EQ(field([](auto& p) { p.max_tokens = -1; }), "max_tokens");
  EXPECT_EQ(field([](auto& p) { p.min_tokens = 17; }), "min_tokens");
  EXPECT_EQ(field([](auto& p) { p.logprobs = 101; }), "logprobs");
  EXPECT_EQ(field([](auto& p) { p.prompt_logprobs = -1; }), "prompt_logprobs");
  EXPECT_EQ(field([](auto& p) { p.logit_bias = {{100, 1.f}}; }), "logit_bias");
  EXPECT_EQ(field([](auto& p) { p.logit_bias = {{1, 101.f}}; }), "logit_bias");
  EXPECT_EQ(field([](auto& p) { p.allowed_token_ids = {-1}; }), "allowed_token_ids");
  EXPECT_EQ(field([](auto& p) { p.stop_token_ids = {100}; }), "stop_token_ids");
  EXPECT_EQ(field([](auto& p) { p.bad_words = {{}}; }), "bad_words");
}

}  // namespace
}  // namespace pagoda::engine
