#include "model/hugging_face/safetensors.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/format.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;  // the format's own bound
constexpr int64_t kMostElements = int64_t{1} << 40;

struct NamedDType {
  std::string_view name;
  DType dtype;
};
constexpr NamedDType kDTypes[] = {
    {"F32", DType::kF32}, {"F16", DType::kF16},        {"BF16", DType::kBF16}, {"F64", DType::kF64},
    {"I8", DType::kI8},   {"I16", DType::kI16},        {"I32", DType::kI32},   {"I64", DType::kI64},
    {"U8", DType::kU8},   {"F8_E4M3", DType::kF8E4M3},
};
// Types of masks and position tables, which no forward pass here reads.
constexpr std::string_view kPassedOver[] = {"BOOL", "U16", "U32", "U64"};

Error corrupt(const std::string& path, std::string_view tensor, std::string_view what) {
  return {ErrorCode::kCorruptData, format("{}: the tensor {}: {}", path, tensor, what), {}};
}

// nullopt for a type that is passed over.
Result<std::optional<DType>> dtype_of(const std::string& path, std::string_view tensor,
                                      const std::string& name) {
  for (const NamedDType& known : kDTypes) {
    if (known.name == name) return std::optional(known.dtype);
  }
  for (const std::string_view passed : kPassedOver) {
    if (passed == name) return std::optional<DType>();
  }
  return fail(ErrorCode::kUnsupported,
              format("{}: the tensor {} is of type {}; F32, F16, BF16, F8_E4M3 and integers are supported",
                     path, tensor, name));
}

Result<Shape> shape_of(const std::string& path, std::string_view tensor, const Json& dims) {
  Shape shape;
  if (dims.size() > Shape::kMaxRank) return Unexpected(corrupt(path, tensor, "too many dimensions"));
  int64_t elements = 1;
  for (const Json& dim : dims) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > static_cast<uint64_t>(kMostElements))
      return Unexpected(corrupt(path, tensor, "a dimension is no sensible number"));
    const auto size = dim.get<int64_t>();
    if (size > 0 && elements > kMostElements / size)
      return Unexpected(corrupt(path, tensor, "more elements than any file holds"));
    elements *= size;
    shape.push_back(size);
  }
  if (dims.empty()) shape.push_back(1);  // a scalar
  return shape;
}

// {"dtype": "BF16", "shape": [576, 576], "data_offsets": [0, 663552]}; nullopt for what is passed over.
Result<std::optional<TensorView>> view_of(const std::string& path, std::string_view name, const Json& entry,
                                          std::span<const std::byte> data) {
  const auto field = [&](const char* key) { return entry.is_object() ? entry.value(key, Json()) : Json(); };
  const Json dtype_name = field("dtype"), dims = field("shape"), offsets = field("data_offsets");
  if (!dtype_name.is_string() || !dims.is_array() || !offsets.is_array() || offsets.size() != 2 ||
      !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return Unexpected(corrupt(path, name, "its entry lacks dtype, shape or data_offsets"));
  PAGODA_ASSIGN(const auto dtype, dtype_of(path, name, dtype_name.get<std::string>()));
  if (!dtype) return std::optional<TensorView>();
  PAGODA_ASSIGN(const Shape shape, shape_of(path, name, dims));
  const auto begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (begin > end || end > data.size()) return Unexpected(corrupt(path, name, "its bytes lie past the end"));
  if (end - begin != bytes_of(*dtype, static_cast<size_t>(shape.elements())))
    return Unexpected(
        corrupt(path, name, format("{} bytes do not hold the shape {}", end - begin, shape.to_string())));
  return std::optional(TensorView{data.data() + begin, *dtype, shape});
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  PAGODA_ASSIGN(MappedFile mapped, MappedFile::open(path));
  SafetensorsFile file(std::move(mapped));
  PAGODA_TRY(file.read_header(path));
  return file;
}

Status SafetensorsFile::read_header(const std::string& path) {
  const std::span<const std::byte> bytes = file_.bytes();
  uint64_t length = 0;
  if (bytes.size() >= kLengthBytes) std::memcpy(&length, bytes.data(), kLengthBytes);
  if (bytes.size() < kLengthBytes || length > kMostHeaderBytes || length > bytes.size() - kLengthBytes)
    return fail(ErrorCode::kCorruptData,
                format("{}: no safetensors file, or one that is cut off in its header", path));
  const auto* text = reinterpret_cast<const char*>(bytes.data() + kLengthBytes);
  const Json header = Json::parse(text, text + length, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object())
    return fail(ErrorCode::kCorruptData, format("{}: the header is no JSON object", path));
  const auto data = bytes.subspan(kLengthBytes + length);
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    PAGODA_ASSIGN(const auto view, view_of(path, name, entry, data));
    if (view) tensors_.emplace(name, *view);
  }
  return {};
}

}  // namespace pagoda::model
