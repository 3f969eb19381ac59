// From a sentence's named groups to an event's row and fields.
#pragma once

#include <string>
#include <string_view>

#include "faults/finding.h"
#include "faults/log_pattern.h"

namespace pagoda::faults {

// "PCI:0000:3b:00", "00000000:3B:00.0", "3b:00.0" → "0000:3b:00". What is no address is returned as it is.
std::string short_address(std::string_view address);

// Completes `fields` after the pattern's reader and returns the row; nullptr when the sentence means nothing
// after all (an XID whose number is out of range).
const FaultRow* read_event(const LogPattern& pattern, Fields& fields);

// Completes the fields of an XID (gpu, xid, and rest: what its line says further) and returns its row; an
// unknown number has the row for others.
const FaultRow* complete_xid(Fields& fields);

// Sets action and action_command after nvmlDeviceGpuRecoveryAction_t; an unknown number sets nothing.
void set_recovery_action(int number, Fields& fields);

// "the application (pid 4121 python3)", or "the application" where neither is known.
std::string application_of(const Fields& fields);

}  // namespace pagoda::faults
