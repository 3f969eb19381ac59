// Every op of every instruction set against the scalar row: the same bytes, for awkward shapes too.
#include "kernels/cpu/isa_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "kernels/dequantise.h"

namespace pagoda::kernels {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::vector<float> floats(size_t count, float spread = 1.f) {
    std::normal_distribution<float> normal(0.f, spread);
    std::vector<float> values(count);
    for (float& value : values) value = normal(engine_);
    return values;
  }
  // Blocks of a quantised dtype with plausible scales: random bytes, but every f16 field small and finite.
  std::vector<std::byte> blocks(DType dtype, size_t elements) {
    std::vector<std::byte> bytes(bytes_of(dtype, elements));
    for (std::byte& b : bytes) b = static_cast<std::byte>(engine_() & 0xff);
    const size_t block = static_cast<size_t>(info_of(dtype).block_bytes);
    for (size_t i = 0; i < bytes.size(); i += block) {
      for (size_t field : scale_fields(dtype)) put_f16(bytes.data() + i + field);
    }
    return bytes;
  }

 private:
  // Byte offsets of the f16 fields in a block.
  static std::vector<size_t> scale_fields(DType dtype) {
    switch (dtype) {
      case DType::kQ4_1:
      case DType::kQ5_1:
      case DType::kQ4_K:
      case DType::kQ5_K:
        return {0, 2};
      case DType::kQ2_K:
        return {80, 82};
      case DType::kQ3_K:
        return {108};
      case DType::kQ6_K:
        return {208};
      default:
        return {0};
    }
  }
  void put_f16(std::byte* p) {
    std::uniform_real_distribution<float> scale(-0.02f, 0.02f);
    const uint16_t bits = f32_to_f16(scale(engine_));
    std::memcpy(p, &bits, 2);
  }
  std::mt19937 engine_;
};

TensorView view_of(const void* data, DType dtype, int rows, int columns) {
  return {static_cast<const std::byte*>(data), dtype, Shape{rows, columns}};
}

std::vector<const IsaTable*> fast_tables() {
  std::vector<const IsaTable*> tables;
  for (const IsaTable* table : isa_tables()) {
    if (table->supported() && table->name != "scalar") tables.push_back(table);
  }
  return tables;
}

const IsaTable& scalar() {
  return *isa_tables().back();
}

::testing::AssertionResult same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], 4) != 0) {
      return ::testing::AssertionFailure() << "element " << i << ": " << a[i] << " and " << b[i];
    }
  }
  return ::testing::AssertionSuccess();
}

std::vector<float> run_linear(const IsaTable& isa, const PackedMatrix& weight, Activations activations,
                              std::vector<float>& x, int rows, int threads, Store store) {
  ThreadPool pool(threads);
  CpuCompute compute(isa, pool);
  std::vector<float> y(static_cast<size_t>(rows) * static_cast<size_t>(weight.rows), 0.25f);
  const LinearOutput output{&weight, Matrix(y.data(), rows, weight.rows, weight.rows), store};
  compute.linear(ConstMatrix(x.data(), rows, weight.columns, weight.columns), activations, {&output, 1});
  return y;
}

constexpr DType kQuantised[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0,  DType::kQ5_1,
                                DType::kQ8_0, DType::kQ2_K, DType::kQ3_K,  DType::kQ4_K,
                                DType::kQ5_K, DType::kQ6_K, DType::kIQ4_NL};

class LinearInt8 : public ::testing::TestWithParam<DType> {};

TEST_P(LinearInt8, EveryIsaAndBatchGivesTheScalarBytes) {
  const DType dtype = GetParam();
  Random random(1);
  ThreadPool pool(2);
  for (int outputs : {1, 16, 37}) {
    const int columns = 512;
    const auto bytes = random.blocks(dtype, static_cast<size_t>(outputs * columns));
    const TensorView tensor = view_of(bytes.data(), dtype, outputs, columns);
    const auto weight = pack({&tensor, 1}, native_format(dtype), pool);
    ASSERT_TRUE(weight) << weight.error().message;
    for (int rows : {1, 2, 7, 65}) {
      auto x = random.floats(static_cast<size_t>(rows * columns));
      const auto expected = run_linear(scalar(), *weight, Activations::kInt8, x, rows, 1, Store::kAdd);
      for (const IsaTable* isa : fast_tables()) {
        EXPECT_TRUE(
            same_bytes(run_linear(*isa, *weight, Activations::kInt8, x, rows, 2, Store::kAdd), expected))
            << isa->name << " rows " << rows << " outputs " << outputs;
      }
      std::vector<float> last(x.end() - columns, x.end());  // alone, it is what it was in the crowd
      const auto alone = run_linear(*isa_tables()[0], *weight, Activations::kInt8, last, 1, 2, Store::kAdd);
      EXPECT_TRUE(same_bytes(alone, std::vector<float>(expected.end() - outputs, expected.end())))
          << "rows " << rows;
    }
  }
}

// The packed form means what the file means: close to the product in doubles of the dequantised weights.
TEST_P(LinearInt8, ApproximatesTheDequantisedProduct) {
  const DType dtype = GetParam();
  Random random(2);
  ThreadPool pool(1);
  const int outputs = 20, columns = 512;
  const auto bytes = random.blocks(dtype, static_cast<size_t>(outputs * columns));
  const TensorView tensor = view_of(bytes.data(), dtype, outputs, columns);
  const auto weight = pack({&tensor, 1}, native_format(dtype), pool);
  ASSERT_TRUE(weight);
  auto x = random.floats(static_cast<size_t>(columns));
  const auto y = run_linear(scalar(), *weight, Activations::kInt8, x, 1, 1, Store::kOverwrite);
  std::vector<float> row(static_cast<size_t>(columns)), unpacked(static_cast<size_t>(columns));
  for (int r = 0; r < outputs; ++r) {
    dequantise_row(dtype, tensor.row(r), columns, row.data());
    unpack_row(*weight, r, unpacked.data());
    float largest = 0;
    for (float value : row) largest = std::max(largest, std::fabs(value));
    double exact = 0, size = 0;
    for (int k = 0; k < columns; ++k) {
      const size_t i = static_cast<size_t>(k);
      EXPECT_NEAR(unpacked[i], row[i], 1e-3 * largest);  // k-quants' scales and offsets are rounded to f16
      exact += static_cast<double>(row[i]) * x[i];
      size += std::fabs(static_cast<double>(row[i]) * x[i]);
    }
    EXPECT_NEAR(y[static_cast<size_t>(r)], exact, 0.01 * size) << "row " << r;
  }
}

INSTANTIATE_TEST_SUITE_P(AllQuantised, LinearInt8, ::testing::ValuesIn(kQuantised),
                         [](const auto& param) { return std::string(info_of(param.param).name); });

TEST(LinearFloat, EveryIsaAndBatchGivesTheScalarBytes) {
  Random random(3);
  ThreadPool pool(2);
  for (WeightEncoding encoding : {WeightEncoding::kF32, WeightEncoding::kF16, WeightEncoding::kBF16}) {
    for (int columns : {1, 2, 17, 96, 131}) {
      const int outputs = 75;
      const auto values = random.floats(static_cast<size_t>(outputs * columns));
      const TensorView tensor = view_of(values.data(), DType::kF32, outputs, columns);
      const auto weight = pack({&tensor, 1}, plain_format(encoding), pool);
      ASSERT_TRUE(weight);
      for (int rows : {1, 3, 66}) {
        auto x = random.floats(static_cast<size_t>(rows * columns));
        for (Activations activations : {Activations::kF32, Activations::kBF16}) {
          const auto expected = run_linear(scalar(), *weight, activations, x, rows, 1, Store::kOverwrite);
          for (const IsaTable* isa : fast_tables()) {
            EXPECT_TRUE(
                same_bytes(run_linear(*isa, *weight, activations, x, rows, 2, Store::kOverwrite), expected))
                << isa->name << " rows " << rows << " columns " << columns;
          }
        }
      }
    }
  }
}

TEST(Elementwise, EveryIsaGivesTheScalarBytes) {
  Random random(4);
  for (int count : {1, 15, 16, 64, 100}) {
    const size_t n = static_cast<size_t>(count);
    const auto x = random.floats(n, 8.f), w = random.floats(n);
    auto run = [&](const IsaTable& isa) {
      std::vector<float> y(5 * n);
      isa.rms_norm(x.data(), count, w.data(), 1e-5f, y.data());
      isa.silu_multiply(x.data(), w.data(), y.data() + n, count);
      isa.gelu_multiply(x.data(), w.data(), y.data() + 2 * n, count);
      isa.add(x.data(), y.data() + 3 * n, count);
      isa.round_to_bf16(x.data(), y.data() + 4 * n, count);
      return y;
    };
    const auto expected = run(scalar());
    for (const IsaTable* isa : fast_tables()) EXPECT_TRUE(same_bytes(run(*isa), expected)) << isa->name;
    for (size_t i = 0; i < n; ++i) {  // and the scalar row is right
      const double silu = x[i] / (1 + std::exp(-static_cast<double>(x[i]))) * w[i];
      EXPECT_NEAR(expected[n + i], silu, 1e-5 + 1e-6 * std::fabs(silu));
      const double u = 0.7978845608 * (x[i] + 0.044715 * std::pow(x[i], 3));
      const double gelu = 0.5 * x[i] * (1 + std::tanh(u)) * w[i];
      EXPECT_NEAR(expected[2 * n + i], gelu, 1e-5 + 1e-5 * std::fabs(gelu));
    }
  }
}

struct AttentionCase {
  int heads, kv_heads, head_dim, context, rows, window, block_size;
  DType dtype;
};

class PagedAttention : public ::testing::TestWithParam<AttentionCase> {
 protected:
  void SetUp() override {
    const AttentionCase c = GetParam();
    const size_t tokens = static_cast<size_t>(c.context + c.rows);
    Random random(5);
    q_ = random.floats(tokens * static_cast<size_t>(c.heads * c.head_dim));
    k_ = random.floats(tokens * static_cast<size_t>(c.kv_heads * c.head_dim));
    v_ = random.floats(tokens * static_cast<size_t>(c.kv_heads * c.head_dim));
    const int blocks = (c.context + c.rows + c.block_size - 1) / c.block_size;
    for (int i = blocks - 1; i >= 0; --i) table_.push_back(i);  // not in order
  }

  // Tokens are written and attended in chunks; returns all tokens' outputs from `context` on.
  std::vector<float> run(const IsaTable& isa, int threads, int chunk) {
    const AttentionCase c = GetParam();
    ThreadPool pool(threads);
    CpuCompute compute(isa, pool);
    const size_t half = static_cast<size_t>(c.kv_heads * c.block_size) * kv_token_bytes(c.dtype, c.head_dim);
    std::vector<std::byte> storage(2 * half * table_.size(), std::byte{0xff});  // NaN: what nobody may read
    KvLayer layer{storage.data(), 2 * half, half, c.block_size, c.kv_heads, c.head_dim, c.dtype};
    const int width = c.heads * c.head_dim, kv_width = c.kv_heads * c.head_dim;
    std::vector<float> y(q_.size());
    for (int at = 0; at < c.context + c.rows;) {
      const int rows = at < c.context ? c.context : std::min(chunk, c.context + c.rows - at);
      const KvSequence sequence{0, rows, at, table_.data()};
      compute.write_kv(ConstMatrix(k_.data() + at * kv_width, rows, kv_width, kv_width),
                       ConstMatrix(v_.data() + at * kv_width, rows, kv_width, kv_width), {&sequence, 1},
                       layer);
      compute.attention(ConstMatrix(q_.data() + at * width, rows, width, width), {&sequence, 1}, layer,
                        {c.heads, c.window, 0.125f}, Matrix(y.data() + at * width, rows, width, width));
      at += rows;
    }
    return {y.begin() + c.context * width, y.end()};
  }

  std::vector<float> q_, k_, v_;
  std::vector<int32_t> table_;
};

TEST_P(PagedAttention, EveryIsaChunkAndThreadCountGivesTheScalarBytes) {
  const auto expected = run(scalar(), 1, 1000);
  for (const IsaTable* isa : fast_tables()) {
    for (int chunk : {1, 5, 1000}) {
      for (int threads : {1, 2, 8}) {
        EXPECT_TRUE(same_bytes(run(*isa, threads, chunk), expected))
            << isa->name << " chunk " << chunk << " threads " << threads;
      }
    }
  }
}

TEST_P(PagedAttention, MatchesPlainSoftmax) {
  const AttentionCase c = GetParam();
  const auto y = run(*isa_tables()[0], 2, 1000);
  const int group = c.heads / c.kv_heads;
  const double tolerance = c.dtype == DType::kF32 ? 1e-5 : 3e-2;
  for (int r = 0; r < c.rows; ++r) {
    const int position = c.context + r;
    const int first = c.window > 0 ? std::max(0, position - c.window + 1) : 0;
    for (int h = 0; h < c.heads; ++h) {
      std::vector<double> out(static_cast<size_t>(c.head_dim), 0.0);
      double total = 0;
      for (int t = first; t <= position; ++t) {
        double dot = 0;
        for (int d = 0; d < c.head_dim; ++d) {
          dot += static_cast<double>(q_[static_cast<size_t>((position * c.heads + h) * c.head_dim + d)]) *
                 k_[static_cast<size_t>((t * c.kv_heads + h / group) * c.head_dim + d)];
        }
        const double weight = std::exp(0.125 * dot);
        total += weight;
        for (int d = 0; d < c.head_dim; ++d) {
          out[static_cast<size_t>(d)] +=
              weight * v_[static_cast<size_t>((t * c.kv_heads + h / group) * c.head_dim + d)];
        }
      }
      for (int d = 0; d < c.head_dim; ++d) {
        ASSERT_NEAR(y[static_cast<size_t>((r * c.heads + h) * c.head_dim + d)],
                    out[static_cast<size_t>(d)] / total, tolerance)
            << "row " << r << " head " << h << " dim " << d;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PagedAttention,
                         ::testing::Values(AttentionCase{3, 1, 16, 0, 1, 0, 16, DType::kF32},
                                           AttentionCase{9, 3, 64, 0, 70, 0, 16, DType::kBF16},
                                           AttentionCase{4, 2, 32, 1100, 9, 0, 32, DType::kBF16},
                                           AttentionCase{4, 1, 256, 600, 20, 0, 16, DType::kBF16},
                                           AttentionCase{4, 1, 32, 560, 40, 33, 16, DType::kF32},
                                           AttentionCase{2, 2, 32, 1500, 3, 512, 64, DType::kBF16},
                                           AttentionCase{9, 3, 64, 0, 70, 0, 16, DType::kI8},
                                           AttentionCase{4, 2, 32, 1100, 9, 0, 32, DType::kI8},
                                           AttentionCase{4, 1, 256, 600, 20, 100, 16, DType::kI8}));

TEST(IsaChoice, NamesWhatThereIs) {
  setenv("PAGODA_ISA", "pdp11", 1);
  const auto wrong = choose_isa();
  setenv("PAGODA_ISA", "scalar", 1);
  const auto right = choose_isa();
  unsetenv("PAGODA_ISA");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("scalar"), std::string::npos);
  ASSERT_TRUE(right);
  EXPECT_EQ((*right)->name, "scalar");
  EXPECT_TRUE(choose_isa());
}

}  // namespace
}  // namespace pagoda::kernels
