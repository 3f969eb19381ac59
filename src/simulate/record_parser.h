// YAML to records of values: nested keys become dotted ones, every key is looked up in the catalogue, every
// fault is told with its line. yaml-cpp throws; callers catch at the file's border (scenario.cc).
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "simulate/value.h"

namespace pagoda::simulate {

// A mapping into `record`, every key behind `prefix` (empty, or with its dot). Words in `reserved` are left
// to the caller.
Status parse_record(const YAML::Node& mapping, const std::string& prefix,
                    std::span<const std::string_view> reserved, const std::string& file, Record& record);

// "FILE:LINE: " and the message.
Unexpected fail_at(const YAML::Node& node, const std::string& file, const std::string& message);

// A number with an optional unit (KiB, MiB, GiB, TiB in bytes; W in mW), decimal or 0x…; or on/off words.
std::optional<Number> parse_number(const std::string& text);
// NOT_SUPPORTED, NVML_ERROR_NOT_SUPPORTED → the code.
std::optional<nvmlReturn_t> parse_return_code(const std::string& text);

}  // namespace pagoda::simulate
