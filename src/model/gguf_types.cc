#include "model/gguf_types.h"

#include "base/check.h"
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
    {0, "F32", DType::kF32},        {1, "F16", DType::kF16},          {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},      {6, "Q5_0", DType::kQ5_0},        {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},      {9, "Q8_1", std::nullopt},        {10, "Q2_K", DType::kQ2_K},
    {11, "Q3_K", DType::kQ3_K},     {12, "Q4_K", DType::kQ4_K},       {13, "Q5_K", DType::kQ5_K},
    {14, "Q6_K", DType::kQ6_K},     {15, "Q8_K", std::nullopt},       {16, "IQ2_XXS", DType::kIQ2_XXS},
    {17, "IQ2_XS", DType::kIQ2_XS}, {18, "IQ3_XXS", DType::kIQ3_XXS}, {19, "IQ1_S", DType::kIQ1_S},
    {20, "IQ4_NL", DType::kIQ4_NL}, {21, "IQ3_S", DType::kIQ3_S},     {22, "IQ2_S", DType::kIQ2_S},
    {23, "IQ4_XS", DType::kIQ4_XS}, {24, "I8", DType::kI8},           {25, "I16", DType::kI16},
    {26, "I32", DType::kI32},       {27, "I64", DType::kI64},         {28, "F64", DType::kF64},
    {29, "IQ1_M", DType::kIQ1_M},   {30, "BF16", DType::kBF16},       {34, "TQ1_0", DType::kTQ1_0},
    {35, "TQ2_0", DType::kTQ2_0},   {39, "MXFP4", DType::kMXFP4},     {40, "NVFP4", DType::kNVFP4},
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

uint32_t gguf_type_of(DType dtype) {
  for (const GgufType& type : kTypes) {
    if (type.dtype == dtype) return type.number;
  }
  PAGODA_CHECK(false, "GGUF knows the dtype");
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
