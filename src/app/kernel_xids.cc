#include "app/kernel_xids.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/format.h"
#include "faults/kernel_log_reader.h"

namespace pagoda::app {
namespace {

constexpr std::string_view kMark = "NVRM: Xid (";

std::int64_t clock_us(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "PCI:0000:3b:00" or "0000:3B:00" is the GPU at 00000000:3B:00.0.
std::optional<unsigned> gpu_at(std::string_view address, const driver::MachineSnapshot& machine) {
  if (address.starts_with("PCI:")) address.remove_prefix(4);
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    if (gpu.pci.bus_id && lower(*gpu.pci.bus_id).find(lower(address)) != std::string::npos) return gpu.index;
  }
  return std::nullopt;
}

std::optional<telemetry::XidEvent> event_in(std::string_view line, const driver::MachineSnapshot& machine,
                                            std::int64_t boot_us) {
  const size_t mark = line.find(kMark);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(mark + kMark.size());
  const size_t close = rest.find("): ");
  if (close == std::string_view::npos) return std::nullopt;
  const auto gpu = gpu_at(rest.substr(0, close), machine);
  unsigned xid = 0;
  const char* digits = rest.data() + close + 3;
  if (!gpu || std::from_chars(digits, line.data() + line.size(), xid).ec != std::errc()) return std::nullopt;
  const size_t bracket = line.find('[');
  const double seconds =
      bracket < mark ? std::strtod(std::string(line.substr(bracket + 1, 32)).c_str(), nullptr) : 0;
  const std::chrono::microseconds time(boot_us + static_cast<std::int64_t>(seconds * 1e6));
  return telemetry::XidEvent{*gpu, xid, {}, {}, std::chrono::system_clock::time_point(time)};
}

}  // namespace

std::vector<telemetry::XidEvent> xids_in_log(std::string_view log, const driver::MachineSnapshot& machine,
                                             std::int64_t boot_us, std::int64_t since_us) {
  std::vector<telemetry::XidEvent> events;
  const std::chrono::system_clock::time_point since{std::chrono::microseconds(since_us)};
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const auto event = event_in(log.substr(begin, end - begin), machine, boot_us);
    if (event && event->time >= since) events.push_back(*event);
    begin = end + 1;
  }
  return events;
}

std::vector<telemetry::XidEvent> kernel_xids(const driver::MachineSnapshot& machine, std::int64_t since_us) {
  const auto log = faults::read_kernel_log("/");
  if (!log) return {};
  return xids_in_log(*log, machine, clock_us(CLOCK_REALTIME) - clock_us(CLOCK_MONOTONIC), since_us);
}

}  // namespace pagoda::app
