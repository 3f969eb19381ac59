// Weights and KV as planned from a model's files, against what loading and a KV cache really take: within 1
// %.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "app/plan_model.h"
#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "model/deployment_plan.h"
#include "model/gguf_facts.h"
#include "model/hugging_face/config_facts.h"
#include "model/kv_cache.h"
#include "model/model.h"

namespace pagoda::model {
namespace {

namespace fs = std::filesystem;

// Of this repository, or of the user's cache.
std::string path_of(const std::string& name) {
  if (name.ends_with(".bin") || name.starts_with("tests/"))
    return std::string(PAGODA_SOURCE_DIR) + "/" + name;
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const fs::path cache =
      xdg != nullptr && *xdg != '\0' ? fs::path(xdg) : fs::path(home ? home : "/") / ".cache";
  return (cache / "pagoda" / "models" / name).string();
}

class Prediction : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = path_of(GetParam());
    if (!fs::exists(path_)) GTEST_SKIP() << path_ << " is not in the cache; tools/fetch.py gets it";
  }
  std::string path_;
};

void expect_near(int64_t predicted, int64_t real) {
  EXPECT_NEAR(static_cast<double>(predicted), static_cast<double>(real), 0.01 * static_cast<double>(real));
}

TEST_P(Prediction, WeightsAreWhatLoadingPacks) {
  for (const Precision precision : {Precision::kAuto, Precision::kBFloat16, Precision::kFloat32}) {
    if (precision == Precision::kFloat32 && !path_.starts_with(PAGODA_SOURCE_DIR))
      continue;  // a real one: slow
    const auto planned = app::find_planned_model(path_, precision);
    ASSERT_TRUE(planned) << planned.error().message;
    ASSERT_TRUE(planned->packed_bytes) << planned->engine_refusal;
    ThreadPool pool(2);
    kernels::CpuCompute compute(**kernels::choose_isa(), pool);
    const auto source = open_weights(path_);
    ASSERT_TRUE(source) << source.error().message;
    const auto model = load_model(**source, {precision}, compute);
    ASSERT_TRUE(model) << model.error().message;
    expect_near(*planned->packed_bytes, (*model)->weight_bytes());
    EXPECT_EQ(planned->float32, (*model)->precision() == Precision::kFloat32);
  }
}

TEST_P(Prediction, ShapeAndKvAreTheEngines) {
  const auto planned = app::find_planned_model(path_, Precision::kAuto);
  ASSERT_TRUE(planned) << planned.error().message;
  const auto source = open_weights(path_);
  const auto config = read_config((*source)->metadata());
  ASSERT_TRUE(config) << config.error().message;
  const ModelShape of_engine(*config), of_facts = shape_of(planned->facts);
  EXPECT_EQ(of_facts.layers, of_engine.layers);
  EXPECT_EQ(of_facts.hidden, of_engine.hidden);
  EXPECT_EQ(of_facts.query, of_engine.query);
  EXPECT_EQ(of_facts.key_value, of_engine.key_value);
  EXPECT_EQ(of_facts.ffn, of_engine.ffn);
  EXPECT_EQ(of_facts.vocabulary, of_engine.vocabulary);
  EXPECT_EQ(of_facts.context, of_engine.context);
  ASSERT_EQ(of_facts.kv.size(), of_engine.kv.size());
  for (size_t i = 0; i < of_facts.kv.size(); ++i) {
    EXPECT_EQ(of_facts.kv[i].layers, of_engine.kv[i].layers);
    EXPECT_EQ(of_facts.kv[i].kv_heads, of_engine.kv[i].kv_heads);
    EXPECT_EQ(of_facts.kv[i].head_dim, of_engine.kv[i].head_dim);
    EXPECT_EQ(of_facts.kv[i].window, of_engine.kv[i].window);
  }

  Deployment d;
  d.facts = planned->facts;
  d.scheme = d.facts.scheme;
  d.weight_bytes = planned->packed_bytes;
  d.device.memory_bytes = int64_t{4} << 30;
  d.serving.max_num_seqs = 8;
  d.serving.max_num_batched_tokens = 512;
  const auto plan = plan_deployment(d);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->fits());
  KvCache cache(config->kv_layout(), d.serving.kv_dtype, d.serving.block_size, plan->memory.blocks);
  int64_t real = 0;
  for (size_t group = 0; group < plan->memory.blocks.size(); ++group)
    real += cache.block_bytes(static_cast<int>(group)) * cache.blocks(static_cast<int>(group));
  expect_near(plan->memory.kv, real);
}

// The counts from config.json alone, without the files of weights: what is planned before a download.
TEST_P(Prediction, ParametersOfTheConfigAreThoseOfTheFiles) {
  const fs::path config = fs::path(path_) / "config.json";
  const auto facts =
      fs::exists(config) ? facts_of_config_file(config.string()) : facts_of_weights(**open_weights(path_));
  ASSERT_TRUE(facts) << facts.error().message;
  const auto source = open_weights(path_);
  int64_t real = 0;
  (*source)->for_each([&](const std::string& name, const TensorView& tensor) {
    if (name != "rope_freqs.weight") real += tensor.shape.elements();
  });
  expect_near(parameter_count(*facts), real);
}

INSTANTIATE_TEST_SUITE_P(Model, Prediction,
                         testing::Values("tests/model/folders/llama2", "tests/model/folders/llama3",
                                         "tests/model/folders/mistral", "tests/model/folders/qwen2",
                                         "tests/model/folders/qwen3", "tests/model/folders/gemma3",
                                         "tests/model/data/tiny_llama.gguf",
                                         "tests/model/data/tiny_llama_scaled.gguf",
                                         "tests/model/data/tiny_gemma3.gguf",
                                         "SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"),
                         [](const auto& parameter) {
                           std::string name = fs::path(parameter.param).stem().string();
                           for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace pagoda::model
