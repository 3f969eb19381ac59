#include "model/gguf.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <set>

#include "base/format.h"
#include "model/gguf_types.h"

namespace pagoda::model {
namespace {

static_assert(std::endian::native == std::endian::little,
              "GGUF is read in place, in the machine's own order");

// The least bytes that one entry can take: bounds the counts before anything is reserved.
constexpr uint64_t kMinMetadataBytes = 8 + 1 + 4 + 1;        // key, type, a one-byte value
constexpr uint64_t kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;  // name, rank, one dim, type, offset
constexpr uint64_t kMaxKeyBytes = 65535;                     // the format's own limit
constexpr uint64_t kMaxTensorNameBytes = 1024;               // the format says 64; some converters write more
constexpr uint64_t kDefaultAlignment = 32;
constexpr uint64_t kMaxAlignment = 1 << 20;

enum ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
  kValueTypes,
};
// Bytes of one element, the least one for strings.
constexpr uint64_t kElementBytes[kValueTypes] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8};

// A name from the file as an error may print it.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 80)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 80 ? "…'" : "'");
}

struct TensorRange {
  uint64_t begin, end;
  size_t tensor;
  bool operator<(const TensorRange& other) const { return begin < other.begin; }
};

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> file, std::string_view name) : file_(file), name_(name) {}

  Result<GgufContents> parse() {
    PAGODA_TRY(read_preamble());
    for (uint64_t i = 0; i < metadata_count_; ++i) PAGODA_TRY(read_metadata());
    PAGODA_TRY(read_alignment());
    contents_.tensors.reserve(tensor_count_);
    for (uint64_t i = 0; i < tensor_count_; ++i) PAGODA_TRY(read_tensor());
    PAGODA_TRY(place_tensors());
    return std::move(contents_);
  }

 private:
  template <class... Args>
  Unexpected corrupt(fmt::format_string<Args...> text, Args&&... args) const {
    return fail(ErrorCode::kCorruptData,
                format("{}: not a sound GGUF file: {}", name_, format(text, std::forward<Args>(args)...)));
  }
  Unexpected truncated(std::string_view what) const {
    return corrupt("it ends at byte {} inside {}; it was cut short, fetch it again", file_.size(), what);
  }
  uint64_t left() const { return file_.size() - position_; }

  template <class T>
  Result<T> read(std::string_view what) {
    if (left() < sizeof(T)) return truncated(what);
    T value;
    std::memcpy(&value, file_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  Result<std::string_view> read_string(std::string_view what) {
    PAGODA_ASSIGN(const uint64_t length, read<uint64_t>(what));
    if (length > left()) return truncated(what);
    const auto* begin = reinterpret_cast<const char*>(file_.data() + position_);
    position_ += length;
    return std::string_view(begin, length);
  }

  Status read_preamble();
  Status read_metadata();
  Result<WeightMetadata::Value> read_scalar(uint32_t type, std::string_view key);
  Result<WeightMetadata::Value> read_array(std::string_view key);
  template <class Stored, class Element>
  Result<WeightMetadata::Value> read_elements(uint64_t count, std::string_view key);
  Status read_alignment();
  Status read_tensor();
  Result<Shape> read_shape(std::string_view tensor);
  Status place_tensors();

  const std::span<const std::byte> file_;
  const std::string_view name_;
  uint64_t position_ = 0;
  uint64_t tensor_count_ = 0;
  uint64_t metadata_count_ = 0;
  uint64_t alignment_ = kDefaultAlignment;
  GgufContents contents_;
  std::set<std::string_view> tensor_names_;
  std::vector<uint64_t> offsets_;  // by tensor, from the start of the data
};

Status GgufParser::read_preamble() {
  if (file_.size() < 4 || std::memcmp(file_.data(), "GGUF", 4) != 0)
    return fail(ErrorCode::kCorruptData, format("{}: not a GGUF file: it does not begin with 'GGUF'", name_));
  position_ = 4;
  PAGODA_ASSIGN(const uint32_t version, read<uint32_t>("the version"));
  if (version != 0 && (version & 0xffff) == 0)
    return fail(
        ErrorCode::kUnsupported,
        format("{}: a big-endian GGUF; this machine reads little-endian ones (the `gguf` Python package "
               "converts: gguf-convert-endian FILE little)",
               name_));
  if (version < 2 || version > 3)
    return fail(ErrorCode::kUnsupported,
                format("{}: GGUF version {}; versions 2 and 3 are read here{}", name_, version,
                       version == 1 ? " (convert the model again with a current converter)" : ""));
  contents_.version = version;
  PAGODA_ASSIGN(tensor_count_, read<uint64_t>("the tensor count"));
  PAGODA_ASSIGN(metadata_count_, read<uint64_t>("the metadata count"));
  if (metadata_count_ > left() / kMinMetadataBytes)
    return corrupt("it claims {} metadata entries, more than its {} bytes can hold", metadata_count_,
                   file_.size());
  if (tensor_count_ > left() / kMinTensorBytes)
    return corrupt("it claims {} tensors, more than its {} bytes can hold", tensor_count_, file_.size());
  return {};
}

Status GgufParser::read_metadata() {
  PAGODA_ASSIGN(const std::string_view key, read_string("a metadata key"));
  if (key.empty() || key.size() > kMaxKeyBytes) return corrupt("a metadata key of {} bytes", key.size());
  if (contents_.metadata.has(key)) return corrupt("the key {} stands in it twice", quoted(key));
  PAGODA_ASSIGN(const uint32_t type, read<uint32_t>("a metadata type"));
  if (type >= kValueTypes) return corrupt("the key {} has the unknown value type {}", quoted(key), type);
  auto value = type == kArray ? read_array(key) : read_scalar(type, key);
  if (!value) return Unexpected(std::move(value).error());
  contents_.metadata.set(std::string(key), std::move(*value));
  return {};
}

Result<WeightMetadata::Value> GgufParser::read_scalar(uint32_t type, std::string_view key) {
  using Value = WeightMetadata::Value;
  const auto as_unsigned = [](auto v) { return Value(static_cast<uint64_t>(v)); };
  const auto as_signed = [](auto v) { return Value(static_cast<int64_t>(v)); };
  const auto as_double = [](auto v) { return Value(static_cast<double>(v)); };
  const std::string what = "the value of " + quoted(key);
  switch (type) {
    case kU8:
      return read<uint8_t>(what).map(as_unsigned);
    case kU16:
      return read<uint16_t>(what).map(as_unsigned);
    case kU32:
      return read<uint32_t>(what).map(as_unsigned);
    case kU64:
      return read<uint64_t>(what).map(as_unsigned);
    case kI8:
      return read<int8_t>(what).map(as_signed);
    case kI16:
      return read<int16_t>(what).map(as_signed);
    case kI32:
      return read<int32_t>(what).map(as_signed);
    case kI64:
      return read<int64_t>(what).map(as_signed);
    case kF32:
      return read<float>(what).map(as_double);
    case kF64:
      return read<double>(what).map(as_double);
    case kString:
      return read_string(what).map([](std::string_view v) { return Value(v); });
    default:
      break;
  }
  PAGODA_ASSIGN(const uint8_t flag, read<uint8_t>(what));
  if (flag > 1) return corrupt("the key {} is a boolean of value {}", quoted(key), flag);
  return Value(flag == 1);
}

template <class Stored, class Element>
Result<WeightMetadata::Value> GgufParser::read_elements(uint64_t count, std::string_view key) {
  std::vector<Stored> values;
  values.reserve(count);
  const std::string what = "the array " + quoted(key);
  for (uint64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<Element, std::string_view>) {
      PAGODA_ASSIGN(const std::string_view element, read_string(what));
      values.push_back(element);
    } else {
      PAGODA_ASSIGN(const Element element, read<Element>(what));
      if constexpr (std::is_same_v<Element, uint64_t>) {
        if (element > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
          return corrupt("the array {} holds {}, more than 63 bits", quoted(key), element);
      }
      if constexpr (std::is_same_v<Stored, bool>) {
        if (element > 1) return corrupt("the array {} holds a boolean of value {}", quoted(key), element);
      }
      values.push_back(static_cast<Stored>(element));
    }
  }
  return WeightMetadata::Value(std::move(values));
}

Result<WeightMetadata::Value> GgufParser::read_array(std::string_view key) {
  PAGODA_ASSIGN(const uint32_t type, read<uint32_t>("an array's type"));
  PAGODA_ASSIGN(const uint64_t count, read<uint64_t>("an array's length"));
  if (type >= kValueTypes) return corrupt("the array {} has the unknown element type {}", quoted(key), type);
  if (type == kArray)
    return fail(ErrorCode::kUnsupported,
                format("{}: the key {} is an array of arrays, which no model uses", name_, quoted(key)));
  if (count > left() / kElementBytes[type])
    return corrupt("the array {} claims {} elements, more than the {} bytes left", quoted(key), count,
                   left());
  switch (type) {
    case kU8:
      return read_elements<int64_t, uint8_t>(count, key);
    case kI8:
      return read_elements<int64_t, int8_t>(count, key);
    case kU16:
      return read_elements<int64_t, uint16_t>(count, key);
    case kI16:
      return read_elements<int64_t, int16_t>(count, key);
    case kU32:
      return read_elements<int64_t, uint32_t>(count, key);
    case kI32:
      return read_elements<int64_t, int32_t>(count, key);
    case kU64:
      return read_elements<int64_t, uint64_t>(count, key);
    case kI64:
      return read_elements<int64_t, int64_t>(count, key);
    case kF32:
      return read_elements<double, float>(count, key);
    case kF64:
      return read_elements<double, double>(count, key);
    case kBool:
      return read_elements<bool, uint8_t>(count, key);
    default:
      return read_elements<std::string_view, std::string_view>(count, key);
  }
}

Status GgufParser::read_alignment() {
  constexpr std::string_view kKey = "general.alignment";
  if (!contents_.metadata.has(kKey)) return {};
  const int64_t value = contents_.metadata.integer(kKey).value_or(0);
  // Eight is the format's least; it also keeps every element of the mapped data on its natural boundary.
  if (value < 8 || value > static_cast<int64_t>(kMaxAlignment) ||
      !std::has_single_bit(static_cast<uint64_t>(value)))
    return corrupt("general.alignment is {}, not a power of two from 8 to {}", value, kMaxAlignment);
  alignment_ = static_cast<uint64_t>(value);
  return {};
}

Result<Shape> GgufParser::read_shape(std::string_view tensor) {
  PAGODA_ASSIGN(const uint32_t rank, read<uint32_t>("a tensor's rank"));
  if (rank < 1 || rank > Shape::kMaxRank)
    return corrupt("the tensor {} has {} dimensions, not 1 to {}", quoted(tensor), rank, Shape::kMaxRank);
  // No tensor has more elements than its file could hold at the format's fewest bits.
  const uint64_t most =
      file_.size() > std::numeric_limits<uint64_t>::max() / 8 ? file_.size() : file_.size() * 8;
  uint64_t dims[Shape::kMaxRank];
  uint64_t elements = 1;
  for (uint32_t i = 0; i < rank; ++i) {
    PAGODA_ASSIGN(dims[i], read<uint64_t>("a tensor's shape"));
    if (dims[i] == 0) return corrupt("the tensor {} has a dimension of 0", quoted(tensor));
    if (dims[i] > most / elements)
      return corrupt("the tensor {} has more elements than the file's {} bytes can hold", quoted(tensor),
                     file_.size());
    elements *= dims[i];
  }
  Shape shape;  // the file has the fastest dimension first
  for (uint32_t i = rank; i > 0; --i) shape.push_back(static_cast<int64_t>(dims[i - 1]));
  return shape;
}

Status GgufParser::read_tensor() {
  PAGODA_ASSIGN(const std::string_view name, read_string("a tensor's name"));
  if (name.empty() || name.size() > kMaxTensorNameBytes)
    return corrupt("a tensor's name of {} bytes", name.size());
  if (!tensor_names_.insert(name).second) return corrupt("the tensor {} stands in it twice", quoted(name));
  PAGODA_ASSIGN(const Shape shape, read_shape(name));
  PAGODA_ASSIGN(const uint32_t type, read<uint32_t>("a tensor's type"));
  PAGODA_ASSIGN(const uint64_t offset, read<uint64_t>("a tensor's offset"));
  const std::optional<DType> dtype = dtype_of_gguf(type);
  if (!dtype)
    return fail(ErrorCode::kUnsupported,
                format("{}: the tensor {} is {}, which is not supported; supported are {}", name_,
                       quoted(name), name_of_gguf_type(type), supported_gguf_types()));
  const int64_t columns = shape[shape.rank() - 1];
  if (columns % info_of(*dtype).block_elements != 0)
    return corrupt("the tensor {} has rows of {} elements, no multiple of {}'s block of {}", quoted(name),
                   columns, info_of(*dtype).name, info_of(*dtype).block_elements);
  if (offset % alignment_ != 0)
    return corrupt("the tensor {} begins at byte {} of the data, no multiple of the alignment {}",
                   quoted(name), offset, alignment_);
  offsets_.push_back(offset);
  contents_.tensors.push_back({std::string(name), TensorView{nullptr, *dtype, shape}});
  return {};
}

Status GgufParser::place_tensors() {
  const uint64_t data = position_ + (alignment_ - position_ % alignment_) % alignment_;
  contents_.header_bytes = std::min<uint64_t>(data, file_.size());
  std::vector<TensorRange> ranges;
  ranges.reserve(offsets_.size());
  for (size_t i = 0; i < offsets_.size(); ++i) {
    GgufTensor& tensor = contents_.tensors[i];
    // Cannot overflow: elements are at most eight per byte of the file.
    const uint64_t bytes = bytes_of(tensor.view.dtype, static_cast<size_t>(tensor.view.shape.elements()));
    if (data > file_.size() || offsets_[i] > file_.size() - data || bytes > file_.size() - data - offsets_[i])
      return corrupt(
          "the tensor {} ({} {}) needs {} bytes from byte {} of the data, past the file's end at {}; "
          "it was cut short, fetch it again",
          quoted(tensor.name), info_of(tensor.view.dtype).name, tensor.view.shape.to_string(), bytes,
          offsets_[i], file_.size());
    tensor.view.data = file_.data() + data + offsets_[i];
    ranges.push_back({offsets_[i], offsets_[i] + bytes, i});
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i - 1].end)
      return corrupt("the tensors {} and {} overlap", quoted(contents_.tensors[ranges[i - 1].tensor].name),
                     quoted(contents_.tensors[ranges[i].tensor].name));
  }
  return {};
}

}  // namespace

Result<GgufContents> parse_gguf(std::span<const std::byte> file, std::string_view name) {
  return GgufParser(file, name).parse();
}

}  // namespace pagoda::model
