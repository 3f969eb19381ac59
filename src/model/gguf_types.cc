#include "model/gguf_types.h"

#include "base/format.h"

namespace pagoda::model {
namespace {

struct GgufType {
  uint32_t number;
  std::string_view name;
  std::optional<DType> dtype;
};

// ggml.h, enum ggml_type. Numbers that are missing here were withdrawn from the format.
constexpr GgufType kTypes[] = {
    {0, "F32", DType::kF32},        {1, "F16", DType::kF16},       {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},      {6, "Q5_0", DType::kQ5_0},     {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},      {9, "Q8_1", std::nullopt},     {10, "Q2_K", DType::kQ2_K},
    {11, "Q3_K", DType::kQ3_K},     {12, "Q4_K", DType::kQ4_K},    {13, "Q5_K", DType::kQ5_K},
    {14, "Q6_K", DType::kQ6_K},     {15, "Q8_K", std::nullopt},    {16, "IQ2_XXS", std::nullopt},
    {17, "IQ2_XS", std::nullopt},   {18, "IQ3_XXS", std::nullopt}, {19, "IQ1_S", std::nullopt},
    {20, "IQ4_NL", DType::kIQ4_NL}, {21, "IQ3_S", std::nullopt},   {22, "IQ2_S", std::nullopt},
    {23, "IQ4_XS", std::nullopt},   {24, "I8", DType::kI8},        {25, "I16", DType::kI16},
    {26, "I32", DType::kI32},       {27, "I64", DType::kI64},      {28, "F64", DType::kF64},
    {29, "IQ1_M", std::nullopt},    {30, "BF16", DType::kBF16},    {34, "TQ1_0", std::nullopt},
    {35, "TQ2_0", std::nullopt},    {39, "MXFP4", std::nullopt},   {40, "NVFP4", std::nullopt},
    {41, "Q1_0", std::nullopt},     {42, "Q2_0", std::nullopt},
};

const GgufType* find_type(uint32_t number) {
  for (const GgufType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

}  // namespace

std::optional<DType> dtype_of_gguf(uint32_t type) {
  const GgufType* found = find_type(type);
  return found ? found->dtype : std::nullopt;
}

std::string name_of_gguf_type(uint32_t type) {
  const GgufType* found = find_type(type);
  return found ? std::string(found->name) : format("type {}", type);
}

std::string supported_gguf_types() {
  std::string list;
  for (const GgufType& type : kTypes) {
    if (!type.dtype) continue;
    if (!list.empty()) list += ", ";
    list += type.name;
  }
  return list;
}

}  // namespace pagoda::model
