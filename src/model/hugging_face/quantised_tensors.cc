#include "model/hugging_face/quantised_tensors.h"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "base/format.h"
#include "kernels/dequantise.h"
#include "kernels/grouped_rows.h"

namespace pagoda::model {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kAwqParts[] = {"qweight", "qzeros", "scales"};
constexpr std::string_view kGptqParts[] = {"qweight", "qzeros", "scales", "g_idx"};
constexpr std::string_view kFp8Parts[] = {"weight", "weight_scale_inv", "weight_scale", "input_scale"};
constexpr std::string_view kCompressedParts[] = {"weight",       "weight_packed", "weight_scale",
                                                 "weight_shape", "weight_g_idx",  "weight_zero_point",
                                                 "input_scale",  "output_scale",  "input_zero_point"};
constexpr std::string_view kBitsAndBytesParts[] = {"weight",
                                                   "weight.absmax",
                                                   "weight.quant_map",
                                                   "weight.nested_absmax",
                                                   "weight.nested_quant_map",
                                                   "weight.quant_state.bitsandbytes__nf4",
                                                   "weight.quant_state.bitsandbytes__fp4",
                                                   "SCB",
                                                   "weight_format"};

std::span<const std::string_view> parts_of(QuantMethod method) {
  switch (method) {
    case QuantMethod::kAwq:
      return kAwqParts;
    case QuantMethod::kGptq:
      return kGptqParts;
    case QuantMethod::kFp8:
      return kFp8Parts;
    case QuantMethod::kCompressedTensors:
      return kCompressedParts;
    case QuantMethod::kBitsAndBytes:
      return kBitsAndBytesParts;
  }
  return {};
}

Unexpected wrong(std::string what) {
  return fail(ErrorCode::kCorruptData, std::move(what));
}

bool is_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

// nullptr where the part is not there.
const TensorView* find(const std::map<std::string, TensorView, std::less<>>& parts, std::string_view name) {
  const auto found = parts.find(name);
  return found == parts.end() ? nullptr : &found->second;
}

Status check(const TensorView* part, std::string_view name, DType dtype, const Shape& shape) {
  if (part == nullptr) return wrong(format("{} is missing", name));
  if (part->dtype != dtype)
    return wrong(format("{} is of type {}, not {}", name, info_of(part->dtype).name, info_of(dtype).name));
  if (part->shape != shape)
    return wrong(format("{} has shape {}, not {}", name, part->shape.to_string(), shape.to_string()));
  return {};
}

Status set_size(int64_t rows, int64_t columns, GroupedWeight& weight) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 64;
  if (rows < 1 || columns < 1 || rows > kMost || columns > kMost)
    return wrong(format("{} x {} is no size of a weight", rows, columns));
  weight.rows = static_cast<int>(rows);
  weight.columns = static_cast<int>(columns);
  return {};
}

Status set_groups(int group, GroupedWeight& weight) {
  weight.column_span = group > 0 && group < weight.columns ? group : weight.columns;
  return {};
}

// Zero points that are all the middle of the codes need not be kept: the weight is symmetric.
void fold_equal_zeros(GroupedWeight& weight) {
  const int middle = (1 << (weight.bits - 1)) - kernels::centre_of(weight);
  for (int row = 0; row < weight.rows; ++row) {
    for (int group = 0; group < weight.groups(); ++group) {
      if (kernels::zero_of(weight, row, group) != middle) return;
    }
  }
  weight.zeros_in = ZeroLayout::kNone;
  weight.zeros = nullptr;
  weight.zero = 1 << (weight.bits - 1);
}

std::vector<float> floats_of(const TensorView& view) {
  std::vector<float> values(static_cast<size_t>(view.shape.elements()));
  kernels::dequantise_row(view.dtype, view.data, static_cast<int>(values.size()), values.data());
  return values;
}

DType shown_as(const GroupedWeight& weight) {
  if (weight.layout == CodeLayout::kRowFloat8) return DType::kF8E4M3;
  if (weight.levels != nullptr) return DType::kNF4;
  return weight.bits == 8 ? DType::kInt8 : DType::kInt4;
}

}  // namespace

bool QuantisedTensors::take(const std::string& name, const TensorView& view) {
  for (const std::string_view part : parts_of(config_.method)) {
    if (name.size() <= part.size() + 1 || !name.ends_with(part) || name[name.size() - part.size() - 1] != '.')
      continue;
    if (part == "weight" && is_float(view.dtype)) return false;
    modules_[name.substr(0, name.size() - part.size() - 1)].emplace(part, view);
    return true;
  }
  return false;
}

Result<std::map<std::string, TensorView>> QuantisedTensors::assemble() {
  std::map<std::string, TensorView> weights;
  for (const auto& [module, parts] : modules_) {
    auto view = build(module, parts);
    if (!view) {
      Error error = std::move(view).error();
      error.message = format("the quantised weight {}: {}", module, error.message);
      return Unexpected(std::move(error));
    }
    weights.emplace(module + ".weight", *view);
  }
  return weights;
}

Result<TensorView> QuantisedTensors::build(const std::string& name, const Parts& parts) {
  GroupedWeight weight;
  if (config_.method == QuantMethod::kAwq) {
    PAGODA_TRY(build_awq(parts, weight));
  } else if (config_.method == QuantMethod::kGptq) {
    PAGODA_TRY(build_gptq(parts, weight));
  } else if (find(parts, "weight_packed") != nullptr) {
    PAGODA_TRY(build_packed(parts, weight));
  } else if (find(parts, "weight") == nullptr) {
    return wrong(format("of {} there are scales but no weight", name));
  } else if (find(parts, "weight.absmax") != nullptr) {
    PAGODA_TRY(build_nf4(parts, weight));
  } else {
    PAGODA_TRY(build_rows(parts, weight));
  }
  weights_.push_back(weight);
  TensorView view;
  view.dtype = shown_as(weight);
  view.shape = Shape{weight.rows, weight.columns};
  view.grouped = &weights_.back();
  return view;
}

Status QuantisedTensors::build_awq(const Parts& parts, GroupedWeight& weight) const {
  const TensorView* codes = find(parts, "qweight");
  if (codes == nullptr) return wrong("qweight is missing");
  if (codes->dtype != DType::kI32 || codes->shape.rank() != 2) return wrong("qweight is no matrix of I32");
  PAGODA_TRY(set_size(codes->shape[1] * 8, codes->shape[0], weight));
  PAGODA_TRY(set_groups(config_.group, weight));
  const TensorView* scales = find(parts, "scales");
  if (scales == nullptr || !is_float(scales->dtype)) return wrong("scales are missing or no floats");
  PAGODA_TRY(check(scales, "scales", scales->dtype, Shape{weight.groups(), weight.rows}));
  weight.layout = CodeLayout::kAwq;
  weight.codes = codes->data;
  weight.scales = *scales;
  weight.scales_by_group = true;
  if (const TensorView* zeros = find(parts, "qzeros")) {
    PAGODA_TRY(check(zeros, "qzeros", DType::kI32, Shape{weight.groups(), weight.rows / 8}));
    weight.zeros_in = ZeroLayout::kAwq;
    weight.zeros = zeros->data;
    fold_equal_zeros(weight);
  } else {
    weight.zero = 8;
  }
  return {};
}

Status QuantisedTensors::build_gptq(const Parts& parts, GroupedWeight& weight) {
  const TensorView* codes = find(parts, "qweight");
  if (codes == nullptr) return wrong("qweight is missing");
  if (codes->dtype != DType::kI32 || codes->shape.rank() != 2) return wrong("qweight is no matrix of I32");
  weight.bits = config_.bits;
  PAGODA_TRY(set_size(codes->shape[1], codes->shape[0] * (32 / weight.bits), weight));
  PAGODA_TRY(set_groups(config_.group, weight));
  const TensorView* scales = find(parts, "scales");
  if (scales == nullptr || !is_float(scales->dtype)) return wrong("scales are missing or no floats");
  PAGODA_TRY(check(scales, "scales", scales->dtype, Shape{weight.groups(), weight.rows}));
  const int per_word = 32 / weight.bits;
  PAGODA_TRY(check(find(parts, "qzeros"), "qzeros", DType::kI32,
                   Shape{weight.groups(), (weight.rows + per_word - 1) / per_word}));
  weight.layout = CodeLayout::kGptq;
  weight.codes = codes->data;
  weight.scales = *scales;
  weight.scales_by_group = true;
  weight.zeros_in = ZeroLayout::kGptq;
  weight.zeros = find(parts, "qzeros")->data;
  weight.zero = config_.zeros_less_one ? 1 : 0;
  fold_equal_zeros(weight);
  return set_order(parts, weight);
}

Status QuantisedTensors::set_order(const Parts& parts, GroupedWeight& weight) {
  const TensorView* groups = find(parts, "g_idx");
  if (groups == nullptr) groups = find(parts, "weight_g_idx");
  if (groups == nullptr) return {};
  PAGODA_TRY(check(groups, "g_idx", DType::kI32, Shape{weight.columns}));
  std::vector<int32_t> order(static_cast<size_t>(weight.columns));
  std::memcpy(order.data(), groups->data, order.size() * sizeof(int32_t));
  bool in_order = true;
  for (int k = 0; k < weight.columns; ++k) {
    const int32_t group = order[static_cast<size_t>(k)];
    if (group < 0 || group >= weight.groups())
      return wrong(format("g_idx names group {} of {}", group, weight.groups()));
    in_order = in_order && group == k / weight.column_span;
  }
  if (in_order) return {};
  orders_.push_back(std::move(order));
  weight.group_of_column = orders_.back().data();
  return {};
}

// Scales of rows: one in all, one per row, one per group of columns, or one per block.
Status QuantisedTensors::set_scales(const TensorView& scales, GroupedWeight& weight) const {
  if (!is_float(scales.dtype)) return wrong("its scales are no floats");
  weight.scales = scales;
  const int64_t count = scales.shape.elements();
  weight.column_span = weight.columns;
  if (count == 1) {
    weight.row_span = weight.rows;
    weight.scales.shape = Shape{1, 1};
    return {};
  }
  if (count == weight.rows) {
    weight.scales.shape = Shape{weight.rows, 1};
    return {};
  }
  const std::string shape = scales.shape.to_string();
  if (scales.shape.rank() != 2) return wrong(format("scales of shape {} do not fit it", shape));
  const int64_t groups = scales.shape[1];
  if (scales.shape[0] == weight.rows && groups > 0 && weight.columns % groups == 0) {
    weight.column_span = static_cast<int>(weight.columns / groups);
    return {};
  }
  const auto blocks = [](int size, int block) { return block > 0 ? (size + block - 1) / block : 0; };
  if (count == 0 || scales.shape[0] != blocks(weight.rows, config_.block_rows) ||
      groups != blocks(weight.columns, config_.block_columns))
    return wrong(
        format("scales of shape {} do not fit a weight of {} x {}", shape, weight.rows, weight.columns));
  weight.row_span = config_.block_rows;
  weight.column_span = std::min(config_.block_columns, weight.columns);
  return {};
}

// compressed-tensors' pack-quantized.
Status QuantisedTensors::build_packed(const Parts& parts, GroupedWeight& weight) {
  const TensorView* codes = find(parts, "weight_packed");
  const TensorView* shape = find(parts, "weight_shape");
  const TensorView* scales = find(parts, "weight_scale");
  PAGODA_TRY(check(shape, "weight_shape", DType::kI64, Shape{2}));
  if (codes->dtype != DType::kI32 || codes->shape.rank() != 2)
    return wrong("weight_packed is no matrix of I32");
  int64_t size[2];
  std::memcpy(size, shape->data, sizeof size);
  PAGODA_TRY(set_size(size[0], size[1], weight));
  weight.bits = 0;
  for (const int bits : {2, 4, 8}) {
    const int64_t words = (size[1] * bits + 31) / 32;
    if (codes->shape == Shape{size[0], words}) weight.bits = bits;
  }
  if (weight.bits == 0)
    return fail(ErrorCode::kUnsupported,
                format("weight_packed of shape {} does not hold {} x {} codes of 2, 4 or 8 bits",
                       codes->shape.to_string(), size[0], size[1]));
  if (scales == nullptr) return wrong("weight_scale is missing");
  weight.layout = CodeLayout::kRowWords;
  weight.codes = codes->data;
  weight.zero = 1 << (weight.bits - 1);
  PAGODA_TRY(set_scales(*scales, weight));
  if (const TensorView* zeros = find(parts, "weight_zero_point")) {
    const int per_word = 32 / weight.bits;
    const Shape words{(weight.rows + per_word - 1) / per_word, weight.groups()};
    if (zeros->dtype == DType::kI32) {
      PAGODA_TRY(check(zeros, "weight_zero_point", DType::kI32, words));
      weight.zeros_in = ZeroLayout::kColumnWords;
      weight.zero = 0;
    } else {
      PAGODA_TRY(check(zeros, "weight_zero_point", DType::kI8, Shape{weight.rows, weight.groups()}));
      weight.zeros_in = ZeroLayout::kBytes;
    }
    weight.zeros = zeros->data;
    fold_equal_zeros(weight);
  }
  return set_order(parts, weight);
}

// Codes of a byte each: int8 (compressed-tensors, bitsandbytes) or E4M3.
Status QuantisedTensors::build_rows(const Parts& parts, GroupedWeight& weight) const {
  const TensorView& codes = *find(parts, "weight");
  if (codes.shape.rank() != 2) return wrong(format("a shape of {}", codes.shape.to_string()));
  PAGODA_TRY(set_size(codes.shape[0], codes.shape[1], weight));
  weight.bits = 8;
  weight.codes = codes.data;
  if (codes.dtype == DType::kF8E4M3) {
    weight.layout = CodeLayout::kRowFloat8;
  } else if (codes.dtype == DType::kI8) {
    weight.layout = CodeLayout::kRowBytes;
  } else {
    return fail(ErrorCode::kUnsupported,
                format("codes of type {}; I8 and F8_E4M3 are read", info_of(codes.dtype).name));
  }
  const TensorView* scales = nullptr;
  for (const char* name : {"weight_scale", "weight_scale_inv", "SCB"}) {
    if (scales == nullptr) scales = find(parts, name);
  }
  if (scales == nullptr) return wrong("its scales are missing");
  PAGODA_TRY(set_scales(*scales, weight));
  if (find(parts, "SCB") != nullptr) weight.scale_factor = 1.f / 127.f;
  if (const TensorView* zeros = find(parts, "weight_zero_point")) {
    const bool all_zero = [&] {
      for (int64_t i = 0; i < zeros->shape.elements(); ++i) {
        if (zeros->dtype != DType::kI8 || zeros->data[i] != std::byte{0}) return false;
      }
      return true;
    }();
    if (!all_zero) {
      PAGODA_TRY(check(zeros, "weight_zero_point", DType::kI8, Shape{weight.rows, weight.groups()}));
      weight.zeros_in = ZeroLayout::kBytes;
      weight.zeros = zeros->data;
    }
  }
  return {};
}

// The scales of nf4's blocks, which may be quantised themselves.
Result<std::vector<float>> QuantisedTensors::blocks_of_nf4(const Parts& parts, const TensorView& absmax,
                                                           float offset) const {
  if (absmax.dtype == DType::kF32) return floats_of(absmax);
  const TensorView* levels = find(parts, "weight.nested_quant_map");
  const TensorView* outer = find(parts, "weight.nested_absmax");
  if (absmax.dtype != DType::kU8) return wrong("weight.absmax is neither F32 nor U8");
  PAGODA_TRY(check(levels, "weight.nested_quant_map", DType::kF32, Shape{256}));
  if (outer == nullptr || outer->dtype != DType::kF32) return wrong("weight.nested_absmax is missing");
  const auto blocks = static_cast<size_t>(absmax.shape.elements());
  const auto outer_count = static_cast<size_t>(outer->shape.elements());
  if (outer_count == 0 || (blocks + outer_count - 1) / outer_count > 256)
    return wrong("weight.nested_absmax has too few blocks");
  const std::vector<float> level = floats_of(*levels), scale = floats_of(*outer);
  std::vector<float> values(blocks);
  for (size_t i = 0; i < blocks; ++i)
    values[i] = level[static_cast<size_t>(absmax.data[i])] * scale[i / 256] + offset;
  return values;
}

Status QuantisedTensors::build_nf4(const Parts& parts, GroupedWeight& weight) {
  const TensorView* state = find(parts, "weight.quant_state.bitsandbytes__nf4");
  if (state == nullptr) state = find(parts, "weight.quant_state.bitsandbytes__fp4");
  const TensorView* map = find(parts, "weight.quant_map");
  PAGODA_TRY(check(map, "weight.quant_map", DType::kF32, Shape{16}));
  if (state == nullptr || state->dtype != DType::kU8) return wrong("weight.quant_state is missing");
  const auto* text = reinterpret_cast<const char*>(state->data);
  const Json json = Json::parse(text, text + state->shape.elements(), nullptr, /*allow_exceptions=*/false);
  const bool right = json.is_object() && json.contains("shape") && json["shape"].is_array() &&
                     json["shape"].size() == 2 && json["shape"][0].is_number_integer() &&
                     json["shape"][1].is_number_integer() && json.contains("blocksize") &&
                     json["blocksize"].is_number_integer();
  if (!right) return wrong("weight.quant_state lacks shape or blocksize");
  PAGODA_TRY(set_size(json["shape"][0].get<int64_t>(), json["shape"][1].get<int64_t>(), weight));
  const int64_t block = json["blocksize"].get<int64_t>();
  if (block < 1 || weight.columns % block != 0)
    return fail(ErrorCode::kUnsupported,
                format("blocks of {} in rows of {} columns are not supported", block, weight.columns));
  weight.layout = CodeLayout::kRowNibbles;
  const TensorView& codes = *find(parts, "weight");
  if (codes.dtype != DType::kU8 || codes.shape.elements() * 2 != int64_t{weight.rows} * weight.columns)
    return wrong("its bytes do not hold its shape");
  weight.codes = codes.data;
  weight.column_span = static_cast<int>(block);
  const float offset = json.contains("nested_offset") && json["nested_offset"].is_number()
                           ? json["nested_offset"].get<float>()
                           : 0.f;
  PAGODA_ASSIGN(auto scales, blocks_of_nf4(parts, *find(parts, "weight.absmax"), offset));
  if (static_cast<int64_t>(scales.size()) != int64_t{weight.rows} * weight.groups())
    return wrong(format("{} scales do not fit it", scales.size()));
  floats_.push_back(std::move(scales));
  weight.scales = {reinterpret_cast<const std::byte*>(floats_.back().data()), DType::kF32,
                   Shape{weight.rows, weight.groups()}};
  floats_.push_back(floats_of(*map));
  weight.levels = floats_.back().data();
  return {};
}

}  // namespace pagoda::model
