#include <array>

#include "smi/gpu_field_cells.h"
#include "smi/names.h"
#include "smi/query_row.h"
#include "smi/sample_rows.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

Cell mhz(const driver::Number& reading) {
  return number(reading, "MHz");
}

bool has_application_clocks(const RowContext& c) {
  return !c.style.application_clocks_deprecated();
}
bool lost_application_clocks(const RowContext& c) {
  return !has_application_clocks(c);
}
Cell past(const Gpu&) {
  return deprecated();
}
bool from_r595(const RowContext& c) {
  return c.style.branch >= 595;
}

void expand_supported_clocks(const RowContext& c, ReportNode& parent) {
  if (!c.gpu.supported_clocks) {
    parent.cell = absent_cell(c.gpu.supported_clocks.error());
    return;
  }
  for (const driver::SupportedClock& clock : *c.gpu.supported_clocks) {
    ReportNode memory{.label = "Memory", .tag = "supported_mem_clock", .cell = mhz(clock.memory)};
    for (const unsigned graphics : clock.graphics) {
      memory.children.push_back(
          {.label = "Graphics", .tag = "supported_graphics_clock", .cell = mhz(graphics)});
    }
    parent.children.push_back(std::move(memory));
  }
}

constexpr std::array kRows = {
    QueryRow{1, "Clocks", "clocks", kClock},
    QueryRow{2, "Graphics", "graphics_clock", 0, [](const Gpu& g) { return mhz(g.clocks.current.graphics); }},
    QueryRow{2, "SM", "sm_clock", 0, [](const Gpu& g) { return mhz(g.clocks.current.sm); }},
    QueryRow{2, "Memory", "mem_clock", 0, [](const Gpu& g) { return mhz(g.clocks.current.memory); }},
    QueryRow{2, "Video", "video_clock", 0, [](const Gpu& g) { return mhz(g.clocks.current.video); }},
    QueryRow{1, "Applications Clocks", "applications_clocks", kClock},
    QueryRow{2, "Graphics", "graphics_clock", 0, past, lost_application_clocks},
    QueryRow{2, "Memory", "mem_clock", 0, past, lost_application_clocks},
    QueryRow{2, "Graphics", "graphics_clock", 0,
             [](const Gpu& g) { return mhz(g.clocks.application_graphics); }, has_application_clocks},
    QueryRow{2, "Memory", "mem_clock", 0, [](const Gpu& g) { return mhz(g.clocks.application_memory); },
             has_application_clocks},
    QueryRow{1, "Default Applications Clocks", "default_applications_clocks", kClock},
    QueryRow{2, "Graphics", "graphics_clock", 0, past, lost_application_clocks},
    QueryRow{2, "Memory", "mem_clock", 0, past, lost_application_clocks},
    QueryRow{2, "Graphics", "graphics_clock", 0, [](const Gpu& g) { return mhz(g.clocks.default_graphics); },
             has_application_clocks},
    QueryRow{2, "Memory", "mem_clock", 0, [](const Gpu& g) { return mhz(g.clocks.default_memory); },
             has_application_clocks},
    QueryRow{1, "Deferred Clocks", "deferred_clocks", kClock},
    QueryRow{2, "Memory", "mem_clock", 0, [](const Gpu& g) { return mhz(g.clocks.deferred_memory); }},
    QueryRow{1, "Max Clocks", "max_clocks", kClock},
    QueryRow{2, "Graphics", "graphics_clock", 0, [](const Gpu& g) { return mhz(g.clocks.max.graphics); }},
    QueryRow{2, "SM", "sm_clock", 0, [](const Gpu& g) { return mhz(g.clocks.max.sm); }},
    QueryRow{2, "Memory", "mem_clock", 0, [](const Gpu& g) { return mhz(g.clocks.max.memory); }},
    QueryRow{2, "Video", "video_clock", 0, [](const Gpu& g) { return mhz(g.clocks.max.video); }},
    QueryRow{1, "Max Customer Boost Clocks", "max_customer_boost_clocks", kClock},
    QueryRow{2, "Graphics", "graphics_clock", 0,
             [](const Gpu& g) { return mhz(g.clocks.customer_boost_graphics); }},
    QueryRow{
        1, "SM Clock Samples", "sm_clock_samples", kClock | kOnlyByDisplay, nullptr, nullptr,
        [](const RowContext& c, ReportNode& n) { add_samples(c.gpu.samples.sm_clock, kClockSamples, n); }},
    QueryRow{1, "Memory Clock Samples", "memory_clock_samples", kClock | kOnlyByDisplay, nullptr, nullptr,
             [](const RowContext& c, ReportNode& n) {
               add_samples(c.gpu.samples.memory_clock, kClockSamples, n);
             }},
    QueryRow{1, "Clock Policy", "clock_policy", kClock},
    QueryRow{2, "Auto Boost", "auto_boost", 0,
             [](const Gpu& g) { return enabled_disabled(g.clocks.auto_boost); }},
    QueryRow{2, "Auto Boost Default", "auto_boost_default", 0,
             [](const Gpu& g) { return enabled_disabled(g.clocks.auto_boost_default); }},
    QueryRow{1, "Supported Clocks", "supported_clocks", kSupportedClocks | kOnlyByDisplay, nullptr, nullptr,
             expand_supported_clocks},
    QueryRow{1, "Voltage", "voltage", kVoltage | kOnlyByDisplay},
    QueryRow{2, "Graphics", "graphics_volt", 0, [](const Gpu&) { return not_available(); }},
    QueryRow{1, "Fabric", "fabric", 0},
    QueryRow{2, "State", "state", 0, [](const Gpu& g) { return fabric_state(g); }},
    QueryRow{2, "Status", "status", 0, [](const Gpu& g) { return fabric_status(g); }},
    QueryRow{2, "CliqueId", "cliqueId", 0,
             [](const Gpu& g) { return fabric_cell(g, number(g.fabric.clique)); }},
    QueryRow{2, "ClusterUUID", "clusterUuid", 0,
             [](const Gpu& g) { return fabric_cell(g, text(g.fabric.cluster_uuid)); }},
    QueryRow{2, "Health", "health", 0},
    QueryRow{3, "Summary", "summary", 0,
             [](const Gpu& g) { return fabric_cell(g, named(g.fabric.health_summary, kFabricSummaries)); }},
    QueryRow{3, "Bandwidth", "bandwidth", 0,
             [](const Gpu& g) { return fabric_health(g, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW); }},
    QueryRow{3, "Route Recovery in progress", "route_recovery_in_progress", 0,
             [](const Gpu& g) { return fabric_health(g, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY); }},
    QueryRow{
        3, "Route Unhealthy", "route_unhealthy", 0,
        [](const Gpu& g) { return fabric_health(g, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY); }},
    QueryRow{
        3, "Access Timeout Recovery", "access_timeout_recovery", 0,
        [](const Gpu&
               g) { return fabric_health(g, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY); }},
    QueryRow{3, "Incorrect Configuration", "incorrect_configuration", 0, fabric_configuration},
    QueryRow{
        3, "Partition Assigned", "partition_assigned", 0,
        [](const Gpu& g) { return fabric_health(g, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_PARTITION_ASSIGNED); },
        from_r595},
};

}  // namespace

std::span<const QueryRow> clock_rows() {
  return kRows;
}

}  // namespace pagoda::smi
