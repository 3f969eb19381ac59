// Every fault that doctor knows, by id.
#pragma once

#include <span>
#include <string_view>

#include "faults/fault_row.h"

namespace pagoda::faults {

std::span<const FaultRow> xid_rows();
std::span<const FaultRow> hardware_rows();
std::span<const FaultRow> driver_rows();
std::span<const FaultRow> serving_rows();
std::span<const FaultRow> container_rows();

struct FaultTable {
  std::string_view title;
  std::span<const FaultRow> rows;
};
std::span<const FaultTable> fault_tables();

// nullptr: no such row.
const FaultRow* find_fault(std::string_view id);

}  // namespace pagoda::faults
