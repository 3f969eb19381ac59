#include "telemetry/injected_values.h"

#include <charconv>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr unsigned kXidField = 230;

template <class T>
Result<FieldValue> parse_number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(ErrorCode::kInvalidArgument, format("'{}' is no number", text));
  return FieldValue(value);
}

}  // namespace

Result<FieldValue> parse_value(const FieldRow& row, const std::string& text) {
  if (row.type == FieldType::kInteger) return parse_number<std::int64_t>(text);
  if (row.type == FieldType::kReal) return parse_number<double>(text);
  return FieldValue(text);
}

std::vector<InjectedValue> standing(const std::vector<InjectedValue>& injected, std::int64_t now_us) {
  std::vector<InjectedValue> out;
  for (const InjectedValue& one : injected) {
    if (one.time_us <= now_us && now_us < one.time_us + kInjectionLastsUs) out.push_back(one);
  }
  return out;
}

std::vector<XidEvent> inject(const std::vector<InjectedValue>& injected, GpuSample& sample) {
  std::vector<XidEvent> xids;
  for (const InjectedValue& one : injected) {
    const FieldRow* row = find_field(one.field);
    const auto value =
        row == nullptr ? Result<FieldValue>(fail(ErrorCode::kNotFound, "")) : parse_value(*row, one.value);
    if (!value) continue;
    sample.injected[{one.gpu, one.field}] = *value;
    if (one.field == kXidField)
      xids.push_back({one.gpu,
                      static_cast<unsigned>(to_number(*value)),
                      {},
                      {},
                      std::chrono::system_clock::time_point(std::chrono::microseconds(one.time_us))});
  }
  return xids;
}

}  // namespace pagoda::telemetry
