// The tensor types of GGUF by their number in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace pagoda::model {

// The dtype of a type number; nothing where this build cannot compute with it.
std::optional<DType> dtype_of_gguf(uint32_t type);

// The number of a dtype that GGUF knows.
uint32_t gguf_type_of(DType dtype);

// "IQ2_XXS" for a number that the format knows, "type 99" otherwise.
std::string name_of_gguf_type(uint32_t type);

// "F32, F16, …": every type that has a dtype, for error messages.
std::string supported_gguf_types();

}  // namespace pagoda::model
