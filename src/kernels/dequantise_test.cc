#include "kernels/dequantise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pagoda::kernels {
namespace {

struct Golden {
  DType dtype;
  std::vector<std::byte> blocks;
  std::vector<float> values;
};

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

DType dtype_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::kIQ4_NL); ++i) {
    if (info_of(static_cast<DType>(i)).name == name) return static_cast<DType>(i);
  }
  ADD_FAILURE() << "no dtype is named " << name;
  return DType::kF32;
}

// Written by tools/make_dequantise_goldens.py with the `gguf` package.
std::vector<Golden> goldens() {
  std::ifstream file(std::filesystem::path(PAGODA_SOURCE_DIR) / "src/kernels/testdata/dequantise.txt");
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name, blocks, values;
    fields >> name >> blocks >> values;
    Golden golden{dtype_named(name), from_hex(blocks), {}};
    const std::vector<std::byte> raw = from_hex(values);
    golden.values.resize(raw.size() / sizeof(float));
    std::memcpy(golden.values.data(), raw.data(), raw.size());
    all.push_back(std::move(golden));
  }
  return all;
}

TEST(Dequantise, EqualsTheReferencePackageBitForBit) {
  const std::vector<Golden> all = goldens();
  ASSERT_EQ(all.size(), 11u);
  for (const Golden& golden : all) {
    std::vector<float> out(golden.values.size());
    dequantise_row(golden.dtype, golden.blocks.data(), static_cast<int>(out.size()), out.data());
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(golden.values[i]))
          << info_of(golden.dtype).name << " element " << i << ": " << out[i] << " for " << golden.values[i];
    }
  }
}

TEST(Dequantise, TheUnpackedFormMakesTheSameNumbers) {
  for (const Golden& golden : goldens()) {
    const QuantFormat& format = quant_format_of(golden.dtype);
    const size_t elements = golden.values.size();
    const size_t groups = elements / static_cast<size_t>(format.group);
    std::vector<int8_t> codes(elements);
    std::vector<float> scales(groups), offsets(groups, 99.f);
    unpack_row(golden.dtype, golden.blocks.data(), static_cast<int>(elements), codes.data(), scales.data(),
               offsets.data());
    for (size_t i = 0; i < elements; ++i) {
      const size_t group = i / static_cast<size_t>(format.group);
      ASSERT_GE(codes[i], format.code_min) << info_of(golden.dtype).name;
      ASSERT_LE(codes[i], format.code_max) << info_of(golden.dtype).name;
      ASSERT_EQ(scales[group] * static_cast<float>(codes[i]) + offsets[group], golden.values[i]);
    }
    if (!format.has_offset) {
      std::vector<int8_t> again(elements);
      unpack_row(golden.dtype, golden.blocks.data(), static_cast<int>(elements), again.data(), scales.data(),
                 nullptr);
      ASSERT_EQ(again, codes);
    }
  }
}

TEST(Dequantise, PlainTypesAreTheirOwnValues) {
  const uint16_t halves[] = {0x3c00, 0xc000, 0x0001};
  const uint16_t bfloats[] = {0x3f80, 0xc000, 0x0001};
  const float floats[] = {1.f, -2.f, 1e-40f};
  float out[3];
  dequantise_row(DType::kF16, reinterpret_cast<const std::byte*>(halves), 3, out);
  EXPECT_EQ(out[0], 1.f);
  EXPECT_EQ(out[1], -2.f);
  EXPECT_EQ(out[2], 0x1p-24f);
  dequantise_row(DType::kBF16, reinterpret_cast<const std::byte*>(bfloats), 3, out);
  EXPECT_EQ(out[1], -2.f);
  EXPECT_EQ(out[2], 0x1p-133f);
  dequantise_row(DType::kF32, reinterpret_cast<const std::byte*>(floats), 3, out);
  EXPECT_EQ(out[2], 1e-40f);
  EXPECT_FALSE(can_dequantise(DType::kI32));
  EXPECT_TRUE(can_dequantise(DType::kQ3_K));
}

}  // namespace
}  // namespace pagoda::kernels
