#include "faults/fault_catalogue.h"

#include <array>
#include <string>
#include <unordered_map>

namespace pagoda::faults {

std::span<const FaultTable> fault_tables() {
  static const std::array kTables = {
      FaultTable{"XIDs and SXIDs", xid_rows()},
      FaultTable{"Bus, heat, power and memory of a GPU", hardware_rows()},
      FaultTable{"Driver and CUDA", driver_rows()},
      FaultTable{"Serving and training", serving_rows()},
      FaultTable{"Containers and set-up", container_rows()},
  };
  return kTables;
}

const FaultRow* find_fault(std::string_view id) {
  static const auto kById = [] {
    std::unordered_map<std::string_view, const FaultRow*> by_id;
    for (const FaultTable& table : fault_tables()) {
      for (const FaultRow& row : table.rows) by_id.emplace(row.id, &row);
    }
    return by_id;
  }();
  const auto found = kById.find(id);
  return found == kById.end() ? nullptr : found->second;
}

std::string_view name_of(Severity severity) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "note", "warning", "fault"};
  return kNames[static_cast<size_t>(severity)];
}

std::string_view name_of(Confidence confidence) {
  constexpr std::array<std::string_view, 3> kNames = {"low", "medium", "high"};
  return kNames[static_cast<size_t>(confidence)];
}

std::string_view name_of(Step step) {
  constexpr std::array<std::string_view, 5> kNames = {"presence", "hardware", "load", "memory", "logs"};
  return kNames[static_cast<size_t>(step) - 1];
}

}  // namespace pagoda::faults
