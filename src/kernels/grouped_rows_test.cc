#include "kernels/grouped_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "kernels/quantise.h"

namespace pagoda::kernels {
namespace {

// Codes, scales and zero points in every layout that this file tests, all random.
struct Sample {
  std::vector<uint32_t> codes, zeros;
  std::vector<float> scales;
  std::vector<int32_t> groups;
  GroupedWeight weight;

  Sample(CodeLayout layout, int rows, int columns, int bits, int span, bool zero_points, bool shuffled) {
    std::mt19937 random(7);
    weight.layout = layout;
    weight.rows = rows;
    weight.columns = columns;
    weight.bits = bits;
    weight.column_span = span;
    codes.resize(static_cast<size_t>(rows * columns * bits / 32 + 1));
    for (uint32_t& word : codes) word = static_cast<uint32_t>(random());
    if (layout == CodeLayout::kRowFloat8) {
      for (uint32_t& word : codes) word &= 0xbfbfbfbf;  // of moderate size, none of them NaN
    }
    zeros.resize(static_cast<size_t>(weight.groups() * rows * bits / 32 + 1));
    for (uint32_t& word : zeros) word = static_cast<uint32_t>(random());
    std::uniform_real_distribution<float> scale(0.01f, 0.02f);
    for (int i = 0; i < weight.groups() * rows; ++i) scales.push_back(f16_to_f32(f32_to_f16(scale(random))));
    weight.codes = reinterpret_cast<const std::byte*>(codes.data());
    weight.scales = {reinterpret_cast<const std::byte*>(scales.data()), DType::kF32,
                     Shape{weight.groups(), rows}};
    weight.scales_by_group = true;
    weight.zero = layout == CodeLayout::kRowFloat8 ? 0 : 1 << (bits - 1);
    if (zero_points) {
      weight.zeros_in = layout == CodeLayout::kAwq ? ZeroLayout::kAwq : ZeroLayout::kGptq;
      weight.zeros = reinterpret_cast<const std::byte*>(zeros.data());
      weight.zero = 0;
    }
    if (!shuffled) return;
    for (int k = 0; k < columns; ++k) groups.push_back(k / span);
    std::shuffle(groups.begin(), groups.end(), random);
    weight.group_of_column = groups.data();
  }
  Sample(const Sample&) = delete;

  TensorView view() const {
    TensorView tensor;
    tensor.dtype = weight.layout == CodeLayout::kRowFloat8 ? DType::kF8E4M3 : DType::kInt4;
    tensor.shape = Shape{weight.rows, weight.columns};
    tensor.grouped = &weight;
    return tensor;
  }
};

struct Case {
  const char* name;
  CodeLayout layout;
  int bits, span;
  bool zero_points, shuffled;
};
const Case kCases[] = {
    {"awq_zeros_128", CodeLayout::kAwq, 4, 128, true, false},
    {"awq_row", CodeLayout::kAwq, 4, 256, true, false},
    {"gptq4_32", CodeLayout::kGptq, 4, 32, false, false},
    {"gptq4_zeros_64_shuffled", CodeLayout::kGptq, 4, 64, true, true},
    {"gptq2_64", CodeLayout::kGptq, 2, 64, true, false},
    {"gptq8_128", CodeLayout::kGptq, 8, 128, false, false},
    {"gptq8_zeros_32", CodeLayout::kGptq, 8, 32, true, false},
    {"words8_zeros_256", CodeLayout::kRowWords, 8, 256, true, false},
    {"f8_128", CodeLayout::kRowFloat8, 8, 128, false, false},
    {"f8_row", CodeLayout::kRowFloat8, 8, 256, false, false},
};
constexpr int kRows = 40, kColumns = 256;

class Grouped : public testing::TestWithParam<Case> {
 protected:
  Sample sample_{GetParam().layout,  kRows,           kColumns,
                 GetParam().bits,    GetParam().span, GetParam().zero_points,
                 GetParam().shuffled};
  ThreadPool pool_{2};
};

std::vector<float> run_linear(const IsaTable& isa, const PackedMatrix& weight, const std::vector<float>& x,
                              int rows) {
  ThreadPool pool(2);
  CpuCompute compute(isa, pool);
  std::vector<float> y(static_cast<size_t>(rows * kRows));
  const LinearOutput output{&weight, Matrix(y.data(), rows, kRows, kRows), Store::kOverwrite};
  compute.linear(ConstMatrix(x.data(), rows, kColumns, kColumns), Activations::kInt8, {&output, 1});
  return y;
}

TEST_P(Grouped, PackedRowsAreTheDequantisedOnes) {
  const TensorView view = sample_.view();
  const auto packed = pack({&view, 1}, native_format(view), pool_);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->column_order.empty(), !GetParam().shuffled);
  EXPECT_EQ(packed->format.span(), GetParam().span);
  GroupedRows rows;
  std::vector<float> exact(kColumns), kept(kColumns);
  for (int row = 0; row < kRows; ++row) {
    rows.dequantise(sample_.weight, row, exact.data());
    unpack_row(*packed, row, kept.data());
    for (int k = 0; k < kColumns; ++k)
      ASSERT_EQ(kept[static_cast<size_t>(k)], exact[static_cast<size_t>(k)])
          << "row " << row << " column " << k;
  }
}

TEST_P(Grouped, EveryIsaAndBatchMultipliesToTheSameBytes) {
  const TensorView view = sample_.view();
  const auto packed = pack({&view, 1}, native_format(view), pool_);
  ASSERT_TRUE(packed);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> x(65 * kColumns), row(kColumns);
  for (float& value : x) value = normal(random);
  const auto expected = run_linear(*isa_tables().back(), *packed, x, 65);
  for (const IsaTable* isa : isa_tables()) {
    if (!isa->supported()) continue;
    EXPECT_EQ(std::memcmp(run_linear(*isa, *packed, x, 65).data(), expected.data(), expected.size() * 4), 0)
        << isa->name;
    const std::vector<float> last(x.end() - kColumns, x.end());
    EXPECT_EQ(std::memcmp(run_linear(*isa, *packed, last, 1).data(), &*(expected.end() - kRows), kRows * 4),
              0)
        << isa->name << " alone";
  }
  GroupedRows rows;
  for (int output = 0; output < kRows; ++output) {
    rows.dequantise(sample_.weight, output, row.data());
    double exact = 0, size = 0;
    for (int k = 0; k < kColumns; ++k) {
      const double product = static_cast<double>(row[static_cast<size_t>(k)]) * x[static_cast<size_t>(k)];
      exact += product, size += std::fabs(product);
    }
    EXPECT_NEAR(expected[static_cast<size_t>(output)], exact, 0.01 * size);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Grouped, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(GroupedPacking, IrregularGroupsHaveNone) {
  Sample sample(CodeLayout::kGptq, 8, 256, 4, 64, true, true);
  EXPECT_TRUE(grouped_packing(sample.weight));
  sample.groups[0] = sample.groups[0] == 0 ? 1 : 0;  // one group grows, another shrinks
  EXPECT_FALSE(grouped_packing(sample.weight));
  EXPECT_EQ(native_format(sample.view()), plain_format(WeightEncoding::kBF16));
}

TEST(Stacking, WantsOneOrderOfColumns) {
  ThreadPool pool(1);
  const Sample ordered(CodeLayout::kGptq, 16, 256, 4, 64, true, false);
  const Sample shuffled(CodeLayout::kGptq, 16, 256, 4, 64, true, true);
  const TensorView views[] = {ordered.view(), shuffled.view()};
  EXPECT_FALSE(same_column_order(views[0], views[1]));
  EXPECT_FALSE(pack(views, native_format(views[0]), pool));
  const TensorView twice[] = {shuffled.view(), shuffled.view()};
  EXPECT_TRUE(pack(twice, native_format(twice[0]), pool));
}

// At load: 16-bit weights into each of the formats that --quantization names.
TEST(QuantiseAtLoad, KeepsTheWeightsNear) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.f, 0.05f);
  std::vector<float> values(32 * 256);
  for (float& value : values) value = normal(random);
  const TensorView view{reinterpret_cast<const std::byte*>(values.data()), DType::kF32, Shape{32, 256}};
  ThreadPool pool(2);
  const std::pair<PackedFormat, double> formats[] = {
      {kQuantiseInt8, 0.006}, {kQuantiseInt4, 0.087}, {quantise_f8_format(256), 0.03}};
  for (const auto& [format, bound] : formats) {
    const auto packed = pack({&view, 1}, format, pool);
    ASSERT_TRUE(packed) << packed.error().message;
    double error = 0, size = 0;
    std::vector<float> row(256);
    for (int r = 0; r < 32; ++r) {
      unpack_row(*packed, r, row.data());
      for (size_t k = 0; k < 256; ++k) {
        const double wanted = values[static_cast<size_t>(r) * 256 + k];
        error += (row[k] - wanted) * (row[k] - wanted);
        size += wanted * wanted;
      }
    }
    EXPECT_LT(std::sqrt(error / size), bound);
  }
}

TEST(F8, RoundsToTheNearestAndBack) {
  for (int bits = 0; bits < 256; ++bits) {
    const float value = f8e4m3_to_f32(static_cast<uint8_t>(bits));
    if ((bits & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(value));
    } else {
      EXPECT_EQ(f32_to_f8e4m3(value), bits) << value;
    }
  }
  EXPECT_EQ(f8e4m3_to_f32(f32_to_f8e4m3(1e9f)), 448.f);
  EXPECT_EQ(f8e4m3_to_f32(f32_to_f8e4m3(-17.f)), -16.f) << "a tie goes to even";
  EXPECT_EQ(f8e4m3_to_f32(f32_to_f8e4m3(0x1p-10f)), 0.f) << "half of the least: to even";
}

}  // namespace
}  // namespace pagoda::kernels
