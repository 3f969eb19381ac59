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

kernels::PackedFormat packed_format(Precision precision, DType dtype) {
  using kernels::WeightEncoding;
  switch (precision) {
    case Precision::kFloat32:
      return kernels::plain_format(WeightEncoding::kF32);
    case Precision::kFloat16:
      return kernels::plain_format(WeightEncoding::kF16);
    case Precision::kBFloat16:
      return kernels::plain_format(WeightEncoding::kBF16);
    default:
      return kernels::native_format(dtype);
  }
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
  if (is_quantised(query->dtype)) return Precision::kInt8;
  if (query->dtype == DType::kBF16) return Precision::kBFloat16;
  return query->dtype == DType::kF16 ? Precision::kFloat16 : Precision::kFloat32;
}

int64_t packed_weight_bytes(const WeightSource& source, Precision precision) {
  const Precision resolved = resolved_precision(source, precision);
  int64_t sum = 0;
  source.for_each([&](const std::string&, const TensorView& tensor) {
    if (tensor.shape.rank() < 2) {
      sum += tensor.shape.elements() * static_cast<int64_t>(sizeof(float));
      return;
    }
    const kernels::PackedFormat format = packed_format(resolved, tensor.dtype);
    const int64_t tiles = (tensor.rows() + kernels::kTileRows - 1) / kernels::kTileRows;
    sum += tiles * static_cast<int64_t>(format.tile_bytes(static_cast<int>(tensor.columns())));
    if (format.encoding == kernels::WeightEncoding::kQuantised && keeps_multipliers(tensor.dtype))
      sum += tiles * kernels::kTileRows * static_cast<int64_t>(sizeof(float));
  });
  return sum;
}

WeightLoader::WeightLoader(const WeightSource& source, Precision precision, ThreadPool& pool)
    : source_(source), precision_(resolved_precision(source, precision)), pool_(pool) {}

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
  if (!kernels::can_dequantise(tensor->dtype)) {
    note(
        {ErrorCode::kUnsupported,
         format("the tensor {} is of type {}, which no kernel multiplies", name, info_of(tensor->dtype).name),
         {}});
    return nullptr;
  }
  return tensor;
}

kernels::PackedFormat WeightLoader::format_of(DType dtype) const {
  return packed_format(precision_, dtype);
}

Linear WeightLoader::linear(std::initializer_list<Part> parts, int columns) {
  std::vector<kernels::PackedMatrix> packed;
  std::vector<TensorView> stack;  // neighbours of one format
  auto pack_stack = [&] {
    if (stack.empty()) return;
    auto matrix = kernels::pack(stack, format_of(stack[0].dtype), pool_);
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
    if (!stack.empty() && format_of(stack[0].dtype) != format_of(tensor->dtype)) pack_stack();
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
