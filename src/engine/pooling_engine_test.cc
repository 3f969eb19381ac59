#include "engine/pooling_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <limits>

namespace pagoda::engine {
namespace {

using testing::ElementsAre;

// Gives (sum of tokens, number of texts in the call) for each text.
class CountingEncoder final : public model::Encoder {
 public:
  CountingEncoder() { config_.context = 100; }
  const model::EncoderConfig& config() const override { return config_; }
  int64_t weight_bytes() const override { return 0; }
  model::Precision precision() const override { return model::Precision::kFloat32; }
  int outputs() const override { return 2; }
  void encode(const model::EncoderBatch& batch, Matrix out) override {
    size_t at = 0;
    for (int text = 0; text < out.rows; ++text) {
      float sum = 0;
      for (int i = 0; i < batch.lengths[static_cast<size_t>(text)]; ++i)
        sum += static_cast<float>(batch.tokens[at++]);
      out.row(text)[0] = sum < 0 ? std::numeric_limits<float>::quiet_NaN() : sum;
      out.row(text)[1] = static_cast<float>(out.rows);
    }
  }

 private:
  model::EncoderConfig config_;
};

struct Answers {
  std::vector<std::promise<Result<std::vector<float>>>> promises;
  std::vector<PoolingRequest> requests;
  void ask(std::vector<int32_t> tokens) {
    promises.emplace_back();
    requests.push_back({std::move(tokens), {}, {}});
  }
  std::vector<PoolingRequest> take() {
    for (size_t i = 0; i < requests.size(); ++i)
      requests[i].sink = [this, i](auto result) { promises[i].set_value(std::move(result)); };
    return std::move(requests);
  }
  Result<std::vector<float>> get(size_t i) { return promises[i].get_future().get(); }
};

TEST(PoolingEngine, ReadsTogetherWhatFits) {
  PoolingEngine engine(std::make_unique<CountingEncoder>(), {.batch_tokens = 5, .waiting = 10});
  Answers answers;
  answers.ask({1, 2});
  answers.ask({3});
  answers.ask({4, 5, 6});
  ASSERT_TRUE(engine.submit(answers.take()));
  EXPECT_THAT(*answers.get(0), ElementsAre(3, 2));
  EXPECT_THAT(*answers.get(1), ElementsAre(3, 2));
  EXPECT_THAT(*answers.get(2), ElementsAre(15, 1)) << "the third would be the sixth token";
}

TEST(PoolingEngine, AVectorThatIsNotFiniteIsAnErrorOfItsTextAlone) {
  PoolingEngine engine(std::make_unique<CountingEncoder>(), {});
  Answers answers;
  answers.ask({-7});
  answers.ask({7});
  ASSERT_TRUE(engine.submit(answers.take()));
  EXPECT_EQ(answers.get(0).error().code, ErrorCode::kInternal);
  EXPECT_TRUE(answers.get(1));
}

}  // namespace
}  // namespace pagoda::engine
