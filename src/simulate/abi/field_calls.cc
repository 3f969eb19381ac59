// nvmlDeviceGetFieldValues: many values by id, each with a return code of its own; and samples.
#include <nvml.h>

#include <algorithm>

#include "base/format.h"
#include "simulate/abi/field_table.h"
#include "simulate/abi/nvlink.h"
#include "simulate/abi/reply.h"
#include "simulate/shipped.h"

using namespace pagoda::simulate;

namespace {

constexpr unsigned kAllLinks = 0xFFFFFFFF;

struct FieldAnswer {
  Answer answer;
  nvmlValueType_t type = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
};

Answer over_links(const Reply& reply, std::string_view key, unsigned link) {
  const auto count = static_cast<unsigned>(reply.number_or("nvlink.count", 0));
  if (count == 0) return {};
  if (link != kAllLinks) {
    Answer wrong;
    wrong.code = NVML_ERROR_INVALID_ARGUMENT;
    return link < count ? link_value(reply, link, key) : wrong;
  }
  Answer sum;
  for (unsigned each = 0; each < count; ++each) {
    const Answer one = link_value(reply, each, key);
    if (one.code != NVML_SUCCESS) return one;
    sum.code = NVML_SUCCESS;
    sum.number += one.number;
  }
  return sum;
}

Answer of_row(const Reply& reply, const FieldRow& row, unsigned scope) {
  constexpr const char* kPowerScopes[] = {"gpu", "module", "memory", "gpu_base"};
  switch (row.scope) {
    case FieldScope::kNone:
      return reply.get(row.key);
    case FieldScope::kLink:
      return over_links(reply, row.key, scope);
    case FieldScope::kLinkSum:
      return over_links(reply, row.key, kAllLinks);
    case FieldScope::kPower:
      return scope < NVML_POWER_SCOPE_COUNT ? reply.get(pagoda::format("{}.{}", row.key, kPowerScopes[scope]))
                                            : Answer{NVML_ERROR_INVALID_ARGUMENT, 0, {}, {}};
  }
  return {};
}

// Pages that were retired for one cause.
Answer retired_count(const Reply& reply, nvmlPageRetirementCause_t cause) {
  Answer answer = reply.get("retired_pages");
  if (!answer.list) return answer;
  for (const Record& page : *answer.list)
    answer.number +=
        static_cast<unsigned>(reply.machine().record_value(reply.device(), page, "cause").number) ==
                static_cast<unsigned>(cause)
            ? 1
            : 0;
  return answer;
}

// What the scenario says of the field itself comes first, then the key that it stands for.
FieldAnswer field_answer(const Reply& reply, unsigned id, unsigned scope) {
  std::vector<std::string> own = {pagoda::format("fields.{}", id)};
  for (const NvmlName& row : field_names()) {
    if (row.number == id) own.push_back(pagoda::format("fields.{}", row.name));
  }
  const auto row =
      std::find_if(field_rows().begin(), field_rows().end(), [&](const FieldRow& r) { return r.id == id; });
  const nvmlValueType_t type = row == field_rows().end() ? NVML_VALUE_TYPE_UNSIGNED_INT : row->type;
  if (!reply.device().is_mig()) {
    for (const std::string& key : own) {
      const Answer answer = reply.get(key);
      if (answer.code != NVML_ERROR_NOT_SUPPORTED)
        return {answer, answer.number < 0 ? NVML_VALUE_TYPE_SIGNED_INT : type};
    }
  }
  if (id == NVML_FI_DEV_RETIRED_SBE)
    return {retired_count(reply, NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS),
            NVML_VALUE_TYPE_UNSIGNED_INT};
  if (id == NVML_FI_DEV_RETIRED_DBE)
    return {retired_count(reply, NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR),
            NVML_VALUE_TYPE_UNSIGNED_INT};
  if (row != field_rows().end()) return {of_row(reply, *row, scope), type};
  for (const LinkFieldRange& range : link_field_ranges()) {
    if (id >= range.first_id && id < range.first_id + range.count)
      return {over_links(reply, range.key, range.first_link + id - range.first_id),
              NVML_VALUE_TYPE_UNSIGNED_LONG_LONG};
  }
  return {};
}

void put_value(const FieldAnswer& from, nvmlValue_t& value) {
  value.ullVal = 0;
  if (from.type == NVML_VALUE_TYPE_UNSIGNED_INT) value.uiVal = Reply::as<unsigned>(from.answer.number);
  if (from.type == NVML_VALUE_TYPE_SIGNED_INT) value.siVal = Reply::as<int>(from.answer.number);
  if (from.type == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG)
    value.ullVal = Reply::as<unsigned long long>(from.answer.number);
}

}  // namespace

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
                                                         nvmlFieldValue_t* values) {
  Reply reply("nvmlDeviceGetFieldValues", device);
  if (reply.require(values != nullptr && count > 0).failed()) return reply;
  for (int i = 0; i < count; ++i) {
    const FieldAnswer field = field_answer(reply, values[i].fieldId, values[i].scopeId);
    values[i].nvmlReturn = values[i].fieldId == 0 || values[i].fieldId >= NVML_FI_MAX
                               ? NVML_ERROR_INVALID_ARGUMENT
                               : field.answer.code;
    values[i].timestamp = static_cast<long long>(now_us());
    values[i].latencyUsec = 0;
    values[i].valueType = field.type;
    put_value(field, values[i].value);
  }
  return reply;
}

// Samples since a time: the scenario's curve read at the driver's own pace.
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type,
                                                     unsigned long long since_us, nvmlValueType_t* value_type,
                                                     unsigned* count, nvmlSample_t* out) {
  struct SamplingRow {
    nvmlSamplingType_t type;
    const char* key;
    unsigned period_us, kept;  // as the drivers do: the power ring is short and quick
  };
  constexpr SamplingRow kRows[] = {{NVML_TOTAL_POWER_SAMPLES, "power.draw_mw", 20000, 120},
                                   {NVML_GPU_UTILIZATION_SAMPLES, "utilization.gpu", 166667, 100},
                                   {NVML_MEMORY_UTILIZATION_SAMPLES, "utilization.memory", 166667, 100},
                                   {NVML_ENC_UTILIZATION_SAMPLES, "utilization.encoder", 166667, 100},
                                   {NVML_DEC_UTILIZATION_SAMPLES, "utilization.decoder", 166667, 100},
                                   {NVML_PROCESSOR_CLK_SAMPLES, "clocks.current.sm", 166667, 100},
                                   {NVML_MEMORY_CLK_SAMPLES, "clocks.current.memory", 166667, 100},
                                   {NVML_JPG_UTILIZATION_SAMPLES, "utilization.jpeg", 166667, 100},
                                   {NVML_OFA_UTILIZATION_SAMPLES, "utilization.ofa", 166667, 100}};
  Reply reply("nvmlDeviceGetSamples", device);
  if (reply.require(value_type != nullptr && count != nullptr).failed()) return reply;
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const SamplingRow& r) { return r.type == type; });
  if (row == std::end(kRows))
    return type == NVML_MODULE_POWER_SAMPLES ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
  const unsigned long long now = now_us();
  *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
  std::vector<nvmlSample_t> samples;
  for (unsigned back = row->kept; back-- > 0;) {
    const unsigned long long time =
        now - now % row->period_us - back * static_cast<unsigned long long>(row->period_us);
    if (time <= since_us) continue;
    const Answer answer = reply.machine().value_at(reply.device(), row->key, time);
    if (answer.code != NVML_SUCCESS) return answer.code;
    nvmlSample_t sample{};
    sample.timeStamp = time;
    sample.sampleValue.uiVal = Reply::as<unsigned>(answer.number);
    samples.push_back(sample);
  }
  if (samples.empty()) return NVML_ERROR_NOT_FOUND;
  // No array asks for the room that is needed; less room than there are samples takes the newest.
  if (out == nullptr) {
    *count = static_cast<unsigned>(samples.size());
    return NVML_SUCCESS;
  }
  const size_t fit = std::min<size_t>(*count, samples.size());
  std::copy(samples.end() - static_cast<std::ptrdiff_t>(fit), samples.end(), out);
  *count = static_cast<unsigned>(fit);
  return NVML_SUCCESS;
}
