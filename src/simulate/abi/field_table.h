// What answers each NVML_FI_… field: a key of the scenario, in which type, and what its scope means.
#pragma once

#include <nvml.h>

#include <span>
#include <string_view>

namespace pagoda::simulate {

enum class FieldScope {
  kNone,
  kLink,     // scopeId is an NVLink; `key` is a link's ("error.replay")
  kLinkSum,  // no scope: the sum over all links
  kPower,    // scopeId is a power scope; `key` gets ".gpu", ".module", …
};

struct FieldRow {
  unsigned id;
  nvmlValueType_t type;
  std::string_view key;
  FieldScope scope = FieldScope::kNone;
};
std::span<const FieldRow> field_rows();

// Fields that name their link: NVML_FI_DEV_NVLINK_SPEED_MBPS_L0 … _L5, _L6 … _L11.
struct LinkFieldRange {
  unsigned first_id, first_link, count;
  std::string_view key;
};
std::span<const LinkFieldRange> link_field_ranges();

}  // namespace pagoda::simulate
