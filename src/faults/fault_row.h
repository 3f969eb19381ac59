// A fault that doctor knows: one row of a table. The rows stand in xid_rows.cc, hardware_rows.cc,
// driver_rows.cc, serving_rows.cc and container_rows.cc; fault_catalogue.h walks them all.
#pragma once

#include <string_view>

namespace pagoda::faults {

// The five steps from symptom to root cause.
enum class Step { kPresence = 1, kHardware, kLoad, kMemory, kLogs };
enum class Severity { kNone, kNote, kWarning, kFault };
enum class Confidence { kLow, kMedium, kHigh };
enum class Drain { kNo, kYes };

// What sort of trouble it is: link_rules.cc says which sort causes which.
enum class Kind {
  kPower,  // slot or cable power, power brake
  kHeat,
  kPcie,       // AER, link speed
  kOffBus,     // the GPU does not answer any more
  kGpuMemory,  // ECC, retired pages, row remapping
  kNvlink,
  kNvswitch,
  kFirmware,       // GSP, PMU
  kApplication,    // its own illegal access
  kTimeout,        // a context switch or bus access that never ended
  kCleanup,        // what the driver does after another fault
  kRecovery,       // what the driver asks for after another fault
  kDriver,         // which module is loaded, and whether it can drive the GPU
  kDriverSymptom,  // NVML or RM say that they cannot
  kFabric,         // NVSwitch fabric not initialised
  kCudaStart,      // CUDA cannot begin
  kCudaFault,      // a CUDA call failed while running
  kGpuOutOfMemory,
  kHostOutOfMemory,
  kNccl,
  kNcclSymptom,
  kServerEnd,  // an engine or worker died; the cause stands elsewhere
  kContainer,
  kSetup,    // ports, folders, limits
  kReading,  // a reading that failed
};

struct FaultRow {
  std::string_view id;  // stable, in JSON: "xid-79"
  Kind kind;
  Step step;
  Severity severity;
  Confidence confidence;
  Drain drain;
  std::string_view title;     // a few words: "fell off the bus"
  std::string_view cause;     // a template (fields.h): the sentence, no full stop
  std::string_view remedies;  // keys of remedies.h, in the order of doing
  // A template: how it is told when something else caused it. Empty: nothing is said of it.
  std::string_view as_consequence;
  std::string_view key = "gpu";  // fields, separated by spaces, by which events are one finding
};

std::string_view name_of(Severity severity);
std::string_view name_of(Confidence confidence);
std::string_view name_of(Step step);

}  // namespace pagoda::faults
