#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace pagoda::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_row(int vocabulary, unsigned seed, float spread = 3.f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.f, spread);
  std::vector<float> row(static_cast<size_t>(vocabulary));
  for (float& logit : row) logit = normal(random);
  return row;
}

// The distribution that vLLM's definition gives, computed the long way in double precision, with a full sort.
std::vector<double> reference(std::vector<float> row, const SamplingParams& params) {
  const double temperature = std::max(0.01, static_cast<double>(params.temperature));
  std::vector<double> p(row.size());
  const double max = static_cast<double>(*std::ranges::max_element(row));
  for (size_t i = 0; i < p.size(); ++i) p[i] = std::exp((static_cast<double>(row[i]) - max) / temperature);
  for (double& x : p) {
    if (x < static_cast<double>(params.min_p)) x = 0;
  }
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return row[a] > row[b]; });
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < p.size()) {
    const float least = row[order[static_cast<size_t>(params.top_k) - 1]];
    for (size_t i = 0; i < p.size(); ++i) {
      if (row[i] < least) p[i] = 0;
    }
  }
  const double total = std::accumulate(p.begin(), p.end(), 0.0);
  if (params.top_p < 1.f) {
    double mass = 0;
    for (const size_t i : order) {
      const double own = p[i];
      if (mass >= static_cast<double>(params.top_p) * total) p[i] = 0;
      mass += own;
    }
  }
  const double kept = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= kept;
  return p;
}

struct Histogrammed {
  std::map<int32_t, int> counts;
  int draws = 0;
};

Histogrammed draw_many(const std::vector<float>& source, const SamplingParams& params, int draws,
                       uint64_t seed) {
  Sampler sampler(static_cast<int>(source.size()));
  Histogrammed result;
  std::vector<float> row;
  for (int i = 0; i < draws; ++i) {
    SamplingState state(params, {}, {}, seed + static_cast<uint64_t>(i), 0, static_cast<int>(source.size()));
    row = source;
    const auto chosen = sampler.sample(state, nullptr, row);
    EXPECT_TRUE(chosen.has_value());
    ++result.counts[chosen->token];
  }
  result.draws = draws;
  return result;
}

// Nothing outside the distribution's support is ever drawn, and chi-square is not extreme: with `cells`
// degrees of freedom its mean is `cells` and its variance 2·cells; five standard deviations never happen by
// chance.
void expect_distribution(const Histogrammed& drawn, const std::vector<double>& p) {
  for (const auto& [token, count] : drawn.counts) {
    EXPECT_GT(p[static_cast<size_t>(token)], 0) << "token " << token << " was drawn " << count << " times";
  }
  double chi = 0, rest = 0;
  int cells = 0, rest_count = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double expected = p[i] * drawn.draws;
    const auto found = drawn.counts.find(static_cast<int32_t>(i));
    const int count = found == drawn.counts.end() ? 0 : found->second;
    if (expected < 10) {
      rest += expected;
      rest_count += count;
      continue;
    }
    chi += (count - expected) * (count - expected) / expected;
    ++cells;
  }
  if (rest > 10) {
    chi += (rest_count - rest) * (rest_count - rest) / rest;
    ++cells;
  }
  EXPECT_LT(chi, cells + 5 * std::sqrt(2.0 * cells) + 5) << cells << " cells";
}

TEST(Sampler, GreedyTakesTheFirstOfTheLargest) {
  for (const int vocabulary : {1, 7, 64, 65, 1000}) {
    Sampler sampler(vocabulary);
    SamplingParams params;
    params.temperature = 0;
    SamplingState state(params, {}, {}, 1, 0, vocabulary);
    std::vector<float> row = random_row(vocabulary, 5);
    const size_t best = static_cast<size_t>(vocabulary) * 2 / 3;
    row[best] = 50.f;
    row.back() = 50.f;
    EXPECT_EQ(sampler.sample(state, nullptr, row)->token, static_cast<int32_t>(best));
  }
}

struct Case {
  const char* name;
  float temperature, top_p, min_p;
  int top_k;
};
class SamplerDistribution : public testing::TestWithParam<Case> {};

TEST_P(SamplerDistribution, IsTheReference) {
  const Case& c = GetParam();
  SamplingParams params;
  params.temperature = c.temperature;
  params.top_p = c.top_p;
  params.min_p = c.min_p;
  params.top_k = c.top_k;
  for (const int vocabulary : {5, 100, 3000}) {
    const auto row = random_row(vocabulary, 11 + static_cast<unsigned>(vocabulary));
    expect_distribution(draw_many(row, params, 20000, 99), reference(row, params));
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, SamplerDistribution,
    testing::Values(Case{"temperature", 1.f, 1.f, 0.f, 0}, Case{"cool", 0.3f, 1.f, 0.f, -1},
                    Case{"hot", 3.f, 1.f, 0.f, 0}, Case{"top_p", 1.f, 0.9f, 0.f, 0},
                    Case{"top_p_small", 1.f, 0.01f, 0.f, 0}, Case{"top_p_hot", 4.f, 0.97f, 0.f, 0},
                    Case{"top_k", 1.f, 1.f, 0.f, 7}, Case{"top_k_1", 1.f, 1.f, 0.f, 1},
                    Case{"top_k_many", 2.f, 1.f, 0.f, 1500}, Case{"min_p", 1.f, 1.f, 0.1f, 0},
                    Case{"top_k_top_p", 1.5f, 0.8f, 0.f, 20}, Case{"everything", 1.2f, 0.9f, 0.02f, 30}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Sampler, TopPKeepsExactlyTheReferencesTokens) {
  // Every candidate is likely enough to be drawn; the sets must be equal.
  std::vector<float> row(1000, -40.f);
  for (int i = 0; i < 20; ++i) row[static_cast<size_t>(i) * 47] = 0.1f * static_cast<float>(i);
  SamplingParams params;
  params.top_p = 0.7f;
  const auto p = reference(row, params);
  const auto drawn = draw_many(row, params, 5000, 3);
  for (size_t i = 0; i < p.size(); ++i)
    EXPECT_EQ(p[i] > 0, drawn.counts.contains(static_cast<int32_t>(i))) << i;
}

TEST(Sampler, TopKKeepsTiesAndTopPTheLowerIds) {
  std::vector<float> row(130, 0.f);
  row[3] = row[70] = row[100] = 5.f;
  SamplingParams params;
  params.top_k = 2;
  EXPECT_EQ(draw_many(row, params, 500, 3).counts.size(), 3u);
  params.top_k = 0;
  params.top_p = 0.4f;
  const auto drawn = draw_many(row, params, 500, 3);
  EXPECT_EQ(drawn.counts.size(), 2u);
  EXPECT_TRUE(drawn.counts.contains(3) && drawn.counts.contains(70));
}

TEST(Sampler, SeedsRepeatAndChoicesDiffer) {
  const auto source = random_row(500, 2);
  Sampler sampler(500);
  SamplingParams params;
  auto answer = [&](uint64_t seed, int choice) {
    SamplingState state(params, {}, {}, seed, choice, 500);
    std::vector<int32_t> tokens;
    for (int i = 0; i < 50; ++i) {
      auto row = source;
      tokens.push_back(sampler.sample(state, nullptr, row)->token);
      state.add(tokens.back());
    }
    return tokens;
  };
  EXPECT_EQ(answer(7, 0), answer(7, 0));
  EXPECT_NE(answer(7, 0), answer(7, 1));
  EXPECT_NE(answer(7, 0), answer(8, 0));
}

TEST(Sampler, PenaltiesAreVllms) {
  SamplingParams params;
  params.temperature = 0;
  params.repetition_penalty = 1.5f;
  params.frequency_penalty = 0.25f;
  params.presence_penalty = 0.5f;
  const std::vector<int32_t> prompt = {1, 2, 2};
  SamplingState state(params, prompt, {}, 0, 0, 6);
  for (const int32_t token : {2, 3, 3}) state.add(token);
  std::vector<float> row = {1.f, 3.f, -3.f, 6.f, -1.f, 2.f};
  state.adjust(row);
  EXPECT_EQ(row, (std::vector<float>{1.f, 2.f, -4.5f - 0.25f - 0.5f, 4.f - 0.5f - 0.5f, -1.f, 2.f}));
}

TEST(Sampler, TokenCountsHoldManyTokens) {
  TokenCounts counts;
  for (int round = 0; round < 3; ++round) {
    for (int32_t token = 0; token < 5000; token += 7) counts.add_answer(token * 64);
  }
  EXPECT_EQ(counts.entries().size(), 715u);
  for (const auto& entry : counts.entries()) EXPECT_EQ(entry.answer, 3);
}

TEST(Sampler, MasksAndBiasComeInOrder) {
  SamplingParams params;
  params.temperature = 0;
  params.allowed_token_ids = {1, 2, 3, 4};
  params.bad_words = {{4}, {9, 3}};
  params.min_tokens = 2;
  params.max_tokens = 9;
  params.stop_token_ids = {2};
  params.logit_bias = {{1, -5.f}};
  const std::vector<int32_t> ends = {0};
  SamplingState state(params, {}, ends, 0, 0, 40);
  Sampler sampler(40);
  const auto choose = [&] {
    std::vector<float> row(40, 0.f);
    row[0] = 9, row[1] = 6, row[2] = 8, row[3] = 5, row[4] = 7, row[39] = 10;
    return sampler.sample(state, nullptr, row)->token;
  };
  EXPECT_EQ(choose(), 3);
  state.add(9);
  EXPECT_EQ(choose(), 1);  // 9, 3 is a bad word; token 2 still ends too early
  state.add(1);
  EXPECT_EQ(choose(), 2);
}

TEST(Sampler, EndTokensAreMaskedOnlyWhenTheyEnd) {
  SamplingParams params;
  params.temperature = 0;
  params.min_tokens = 1;
  const std::vector<int32_t> ends = {0};
  for (const bool ignore : {false, true}) {
    params.ignore_eos = ignore;
    SamplingState state(params, {}, ends, 0, 0, 3);
    Sampler sampler(3);
    std::vector<float> row = {3.f, 2.f, 1.f};
    EXPECT_EQ(sampler.sample(state, nullptr, row)->token, ignore ? 0 : 1);
  }
}

class OnlyToken final : public TokenConstraint {
 public:
  explicit OnlyToken(int32_t token) : token_(token) {}
  void fill_mask(std::span<uint32_t> mask) override {
    if (token_ >= 0) mask[static_cast<size_t>(token_) / 32] |= 1u << (token_ % 32);
  }
  bool accept(int32_t token) override { return token == token_; }
  void rollback(int) override {}
  bool finished() const override { return false; }

 private:
  int32_t token_;
};

TEST(Sampler, AConstraintLeavesOnlyWhatItAllows) {
  Sampler sampler(100);
  for (const float temperature : {0.f, 1.f}) {
    SamplingParams params;
    params.temperature = temperature;
    SamplingState state(params, {}, {}, 0, 0, 100);
    OnlyToken only(77), none(-1);
    auto row = random_row(100, 1);
    EXPECT_EQ(sampler.sample(state, &only, row)->token, 77);
    row = random_row(100, 1);
    const auto nothing = sampler.sample(state, &none, row);
    ASSERT_FALSE(nothing.has_value());
    EXPECT_EQ(nothing.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Sampler, LogprobsAreOfTheRawDistribution) {
  constexpr int kVocabulary = 3000;
  const auto source = random_row(kVocabulary, 21);
  SamplingParams params;
  params.temperature = 0;
  params.logprobs = 5;
  params.logit_bias = {{123, 100.f}};
  SamplingState state(params, {}, {}, 0, 0, kVocabulary);
  Sampler sampler(kVocabulary);
  auto row = source;
  const auto chosen = sampler.sample(state, nullptr, row);
  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ(chosen->token, 123);

  double sum = 0;
  for (const float logit : source) sum += std::exp(static_cast<double>(logit));
  const auto expected = [&](int32_t token) {
    return static_cast<double>(source[static_cast<size_t>(token)]) - std::log(sum);
  };
  EXPECT_NEAR(static_cast<double>(chosen->chosen->logprob), expected(123), 1e-5);
  EXPECT_EQ(chosen->chosen->rank, std::ranges::count_if(source, [&](float x) { return x >= source[123]; }));
  std::vector<int32_t> order(kVocabulary);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](int32_t a, int32_t b) {
    return source[static_cast<size_t>(a)] > source[static_cast<size_t>(b)];
  });
  ASSERT_EQ(chosen->top.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(chosen->top[i].token, order[i]);
    EXPECT_EQ(chosen->top[i].rank, static_cast<int>(i) + 1);
    EXPECT_NEAR(static_cast<double>(chosen->top[i].logprob), expected(order[i]), 1e-5);
  }
  const auto scored = sampler.score(source, order[7], 2);
  EXPECT_EQ(scored->chosen->rank, 8);
  EXPECT_EQ(scored->top.size(), 2u);
}

TEST(Sampler, AllAlternativesCanBeAskedFor) {
  const auto source = random_row(300, 4);
  Sampler sampler(300);
  const auto scored = sampler.score(source, 0, 300);
  ASSERT_EQ(scored->top.size(), 300u);
  std::set<int32_t> tokens;
  for (const auto& one : scored->top) tokens.insert(one.token);
  EXPECT_EQ(tokens.size(), 300u);
}

TEST(Sampler, ImprobableLogprobsAreFloored) {
  std::vector<float> row = {0.f, -kInfinity, -20000.f};
  Sampler sampler(3);
  EXPECT_EQ(sampler.score(row, 1, 3)->chosen->logprob, -9999.f);
  EXPECT_EQ(sampler.score(row, 2, 3)->chosen->logprob, -9999.f);
}

TEST(Sampler, BrokenLogitsAreAnError) {
  Sampler sampler(100);
  SamplingParams params;
  SamplingState state(params, {}, {}, 0, 0, 100);
  for (const float broken : {kNan, kInfinity}) {
    auto row = random_row(100, 9);
    row[50] = broken;
    const auto chosen = sampler.sample(state, nullptr, row);
    ASSERT_FALSE(chosen.has_value());
    EXPECT_EQ(chosen.error().code, ErrorCode::kInternal);
  }
}

}  // namespace
}  // namespace pagoda::engine
