#include "model/weight_loader.h"

#include "base/format.h"
#include "kernels/dequantise.h"

namespace pagoda::model {
namespace {

// bf16 weights multiply f32 activations: rounding those too costs accuracy and, without bf16 units, gains
// nothing.
kernels::Activations activations_of(Precision precision) {
  return precision == Precision::kInt8 ? kernels::Activations::kInt8 : kernels::Activations::kF32;
}

// How a tensor is packed: `precision` is resolved, never kAuto.
kernels::PackedFormat packed_format(Precision precision, QuantiseTo quantise_to, const std::string& name,
                                    const TensorView& tensor) {
  using kernels::WeightEncoding;
  switch (precision) {
    case Precision::kFloat32:
      return kernels::plain_format(WeightEncoding::kF32);
    case Precision::kFloat16:
      return kernels::plain_format(WeightEncoding::kF16);
    case Precision::kBFloat16:
      return kernels::plain_format(WeightEncoding::kBF16);
    default:
      break;
  }
  const bool plain = !is_quantised(tensor.dtype) && tensor.grouped == nullptr;
  const int columns = static_cast<int>(tensor.columns());
  if (!plain || columns % 32 != 0) return kernels::native_format(tensor);
  const bool outside = name == "token_embd.weight" || name == "output.weight";
  switch (quantise_to) {
    case QuantiseTo::kInt8:
      return kernels::kQuantiseInt8;
    case QuantiseTo::kInt4:
      return outside ? kernels::kQuantiseInt8 : kernels::kQuantiseInt4;
    case QuantiseTo::kF8:
      return kernels::quantise_f8_format(columns);
    case QuantiseTo::kNothing:
      break;
  }
  return kernels::native_format(tensor);
}

// K-quants scale their scales: a row whose products f16 does not hold keeps a multiplier.
bool keeps_multipliers(DType dtype) {
  return dtype == DType::kQ2_K || dtype == DType::kQ3_K || dtype == DType::kQ4_K || dtype == DType::kQ5_K ||
         dtype == DType::kQ6_K;
}

}  // namespace

// The first layer's query weights stand for the file: embeddings and norms are often kept in a wider type.
Precision resolved_precision(const WeightSource& source, Precision wanted) {
  if (wanted != Precision::kAuto) return wanted;
  const TensorView* query = source.find("blk.0.attn_q.weight");
  if (query == nullptr) return Precision::kFloat32;
  if (is_quantised(query->dtype) || query->grouped != nullptr) return Precision::kInt8;
  if (query->dtype == DType::kBF16) return Precision::kBFloat16;
  return query->dtype == DType::kF16 ? Precision::kFloat16 : Precision::kFloat32;
}

int64_t packed_weight_bytes(const WeightSource& source, Precision precision, QuantiseTo quantise_to) {
  const bool quantises = precision == Precision::kAuto && quantise_to != QuantiseTo::kNothing;
  const Precision resolved = quantises ? Precision::kInt8 : resolved_precision(source, precision);
  int64_t sum = 0;
  source.for_each([&](const std::string& name, const TensorView& tensor) {
    if (tensor.shape.rank() < 2) {
      sum += tensor.shape.elements() * static_cast<int64_t>(sizeof(float));
      return;
    }
    const kernels::PackedFormat format = packed_format(resolved, quantise_to, name, tensor);
    const int64_t tiles = (tensor.rows() + kernels::kTileRows - 1) / kernels::kTileRows;
    sum += tiles * static_cast<int64_t>(format.tile_bytes(static_cast<int>(tensor.columns())));
    if (format.encoding == kernels::WeightEncoding::kQuantised && keeps_multipliers(tensor.dtype))
      sum += tiles * kernels::kTileRows * static_cast<int64_t>(sizeof(float));
  });
  return sum;
}

WeightLoader::WeightLoader(const WeightSource& source, const LoadOptions& options, ThreadPool& pool)
    : source_(source),
      quantise_to_(options.precision == Precision::kAuto ? options.quantise_to : QuantiseTo::kNothing),
      precision_(quantise_to_ != QuantiseTo::kNothing ? Precision::kInt8
                                                      : resolved_precision(source, options.precision)),
      pool_(pool) {}

Status WeightLoader::status() const {
  if (error_) return Unexpected(*error_);
  return {};
}

void WeightLoader::note(Error error) {
  if (error_) return;
  error.message = format("{}: {}", source_.path(), error.message);
  error_ = std::move(error);
}

const TensorView* WeightLoader::take(const std::string& name, const Shape& shape) {
  const TensorView* tensor = source_.find(name);
  if (tensor == nullptr) {
    note({ErrorCode::kCorruptData, format("the tensor {} is missing", name), {}});
    return nullptr;
  }
  if (tensor->shape != shape) {
    note({ErrorCode::kCorruptData,
          format("the tensor {} has shape {}, but the model's config makes it {}", name,
                 tensor->shape.to_string(), shape.to_string()),
          {}});
    return nullptr;
  }
  if (tensor->grouped == nullptr && !kernels::can_dequantise(tensor->dtype)) {
    note(
        {ErrorCode::kUnsupported,
         format("the tensor {} is of type {}, which no kernel multiplies", name, info_of(tensor->dtype).name),
         {}});
    return nullptr;
  }
  return tensor;
}

kernels::PackedFormat WeightLoader::format_of(const std::string& name, const TensorView& tensor) const {
  return packed_format(precision_, quantise_to_, name, tensor);
}

void WeightLoader::count_dequantised(const TensorView& tensor, const kernels::PackedFormat& format) {
  const bool coded = format.encoding == kernels::WeightEncoding::kQuantised ||
                     format.encoding == kernels::WeightEncoding::kF8;
  if (tensor.grouped == nullptr || coded || precision_ != Precision::kInt8) return;
  ++dequantised_;
  dequantised_type_ = tensor.dtype;
}

std::string WeightLoader::dequantised() const {
  if (dequantised_ == 0) return {};
  return format("{} weights of type {} have no kernel of their own: dequantised to bf16", dequantised_,
                info_of(dequantised_type_).name);
}

Linear WeightLoader::linear(std::initializer_list<Part> parts, int columns) {
  std::vector<kernels::PackedMatrix> packed;
  std::vector<TensorView> stack;  // neighbours of one format
  kernels::PackedFormat stack_format;
  auto pack_stack = [&] {
    if (stack.empty()) return;
    auto matrix = kernels::pack(stack, stack_format, pool_);
    if (matrix) {
      packed.push_back(std::move(*matrix));
    } else {
      note(matrix.error());
    }
    stack.clear();
  };
  for (const Part& part : parts) {
    const TensorView* tensor = take(part.name, Shape{part.rows, columns});
    if (tensor == nullptr) return {};
    const kernels::PackedFormat format = format_of(part.name, *tensor);
    if (!stack.empty() && (stack_format != format || !kernels::same_column_order(stack[0], *tensor)))
      pack_stack();
    stack_format = format;
    count_dequantised(*tensor, format);
    stack.push_back(*tensor);
  }
  pack_stack();
  if (error_) return {};
  Linear linear(std::move(packed), activations_of(precision_));
  bytes_ += linear.bytes();
  return linear;
}

std::vector<float> WeightLoader::vector(const std::string& name, int size) {
  std::vector<float> values(static_cast<size_t>(size));
  const TensorView* tensor = take(name, Shape{size});
  if (tensor == nullptr) return values;
  kernels::dequantise_row(tensor->dtype, tensor->data, size, values.data());
  bytes_ += static_cast<int64_t>(values.size() * sizeof(float));
  return values;
}

}  // namespace pagoda::model
