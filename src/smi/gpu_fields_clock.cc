#include <array>

#include "smi/gpu_field.h"
#include "smi/gpu_field_cells.h"
#include "smi/names.h"

namespace pagoda::smi {
namespace {

constexpr std::array kFields = {
    GpuField{"clocks.current.graphics", "clocks.gr", "MHz", driver::kClocksSection, "Graphics clock now.",
             [](const FieldContext& f) { return number(f.gpu.clocks.current.graphics, "MHz"); }},
    GpuField{"clocks.current.sm", "clocks.sm", "MHz", driver::kClocksSection, "SM clock now.",
             [](const FieldContext& f) { return number(f.gpu.clocks.current.sm, "MHz"); }},
    GpuField{"clocks.current.memory", "clocks.mem", "MHz", driver::kClocksSection, "Memory clock now.",
             [](const FieldContext& f) { return number(f.gpu.clocks.current.memory, "MHz"); }},
    GpuField{"clocks.current.video", "clocks.video", "MHz", driver::kClocksSection,
             "Clock of the video engines now.",
             [](const FieldContext& f) { return number(f.gpu.clocks.current.video, "MHz"); }},
    GpuField{"clocks.applications.graphics", "clocks.applications.gr", "MHz", driver::kClocksSection,
             "Clock that was asked for; since R580 no longer told.",
             [](const FieldContext& f) { return application_clock(f, f.gpu.clocks.application_graphics); }},
    GpuField{"clocks.applications.memory", "clocks.applications.mem", "MHz", driver::kClocksSection,
             "Clock that was asked for; since R580 no longer told.",
             [](const FieldContext& f) { return application_clock(f, f.gpu.clocks.application_memory); }},
    GpuField{"clocks.default_applications.graphics", "clocks.default_applications.gr", "MHz",
             driver::kClocksSection, "Clock as the board comes; since R580 no longer told.",
             [](const FieldContext& f) { return application_clock(f, f.gpu.clocks.default_graphics); }},
    GpuField{"clocks.default_applications.memory", "clocks.default_applications.mem", "MHz",
             driver::kClocksSection, "Clock as the board comes; since R580 no longer told.",
             [](const FieldContext& f) { return application_clock(f, f.gpu.clocks.default_memory); }},
    GpuField{"clocks.max.graphics", "clocks.max.gr", "MHz", driver::kClocksSection, "Highest graphics clock.",
             [](const FieldContext& f) { return number(f.gpu.clocks.max.graphics, "MHz"); }},
    GpuField{"clocks.max.sm", "", "MHz", driver::kClocksSection, "Highest SM clock.",
             [](const FieldContext& f) { return number(f.gpu.clocks.max.sm, "MHz"); }},
    GpuField{"clocks.max.memory", "clocks.max.mem", "MHz", driver::kClocksSection, "Highest memory clock.",
             [](const FieldContext& f) { return number(f.gpu.clocks.max.memory, "MHz"); }},
    GpuField{"mig.mode.current", "", "", driver::kModesSection, "The GPU is split into instances.",
             [](const FieldContext& f) { return named(f.gpu.modes.mig.current, kEnabledModes); }},
    GpuField{"mig.mode.pending", "", "", driver::kModesSection, "After the next reset.",
             [](const FieldContext& f) { return named(f.gpu.modes.mig.pending, kEnabledModes); }},
    GpuField{"gsp.mode.current", "", "", driver::kModesSection, "The driver runs on the GPU's own processor.",
             [](const FieldContext& f) { return enabled_disabled(f.gpu.modes.gsp_enabled); }},
    GpuField{"gsp.mode.default", "", "", driver::kModesSection, "How this chip comes.",
             [](const FieldContext& f) { return enabled_disabled(f.gpu.modes.gsp_default); }},
    GpuField{"c2c.mode", "", "", driver::kModesSection, "The link between CPU and GPU of a superchip.",
             [](const FieldContext& f) { return named(f.gpu.modes.c2c, kEnabledModes); }},
    GpuField{"protected_memory.total", "", "MiB", driver::kMemorySection,
             "Size of the protected part (confidential computing).",
             [](const FieldContext& f) { return mib(f.gpu.protected_memory.total); }},
    GpuField{"protected_memory.used", "", "MiB", driver::kMemorySection, "Held of it.",
             [](const FieldContext& f) { return mib(f.gpu.protected_memory.used); }},
    GpuField{"protected_memory.free", "", "MiB", driver::kMemorySection, "Free of it.",
             [](const FieldContext& f) { return mib(f.gpu.protected_memory.free); }},
    GpuField{"fabric.state", "", "", driver::kFabricSection, "Whether the NVLink fabric is joined.",
             [](const FieldContext& f) { return fabric_state(f.gpu); }, true},
    GpuField{"fabric.status", "", "", driver::kFabricSection, "The result of joining.",
             [](const FieldContext& f) { return fabric_status(f.gpu); }, true},
    GpuField{"fabric.cliqueId", "", "", driver::kFabricSection, "The group that can reach each other.",
             [](const FieldContext& f) { return fabric_cell(f.gpu, number(f.gpu.fabric.clique)); }, true},
    GpuField{"fabric.clusterUuid", "", "", driver::kFabricSection, "The fabric.",
             [](const FieldContext& f) { return fabric_cell(f.gpu, text(f.gpu.fabric.cluster_uuid)); }, true},
    GpuField{"fabric.health.summary", "", "", driver::kFabricSection, "Healthy, unhealthy or limited.",
             [](const FieldContext& f) {
               return fabric_cell(f.gpu, named(f.gpu.fabric.health_summary, kFabricSummaries));
             },
             true},
    GpuField{"fabric.health.bandwidth", "", "", driver::kFabricSection, "Bandwidth is reduced.",
             [](const FieldContext& f) {
               return fabric_health(f.gpu, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_DEGRADED_BW);
             },
             true},
    GpuField{"fabric.health.route_recovery_in_progress", "", "", driver::kFabricSection,
             "Routes are being repaired.",
             [](const FieldContext&
                    f) { return fabric_health(f.gpu, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_RECOVERY); },
             true},
    GpuField{"fabric.health.route_unhealthy", "", "", driver::kFabricSection, "A route is broken.",
             [](const FieldContext& f) {
               return fabric_health(f.gpu, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ROUTE_UNHEALTHY);
             },
             true},
    GpuField{
        "fabric.health.access_timeout_recovery", "", "", driver::kFabricSection, "Recovers from a time-out.",
        [](const FieldContext& f) {
          return fabric_health(f.gpu, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_ACCESS_TIMEOUT_RECOVERY);
        },
        true},
    GpuField{"fabric.health.incorrect_configuration", "", "", driver::kFabricSection,
             "What is set up wrongly.", [](const FieldContext& f) { return fabric_configuration(f.gpu); },
             true},
    GpuField{"fabric.health.partition_assigned", "", "", driver::kFabricSection, "Belongs to a partition.",
             [](const FieldContext& f) {
               return fabric_health(f.gpu, NVML_GPU_FABRIC_HEALTH_MASK_SHIFT_PARTITION_ASSIGNED);
             },
             true},
    GpuField{"platform.chassis_serial_number", "", "", driver::kPlatformSection, "Of the rack.",
             [](const FieldContext& f) { return text(f.gpu.platform.chassis_serial); }},
    GpuField{"platform.slot_number", "", "", driver::kPlatformSection, "In the rack.",
             [](const FieldContext& f) { return number(f.gpu.platform.slot); }},
    GpuField{"platform.tray_index", "", "", driver::kPlatformSection, "In the slot.",
             [](const FieldContext& f) { return number(f.gpu.platform.tray); }},
    GpuField{"platform.host_id", "", "", driver::kPlatformSection, "Node in the slot.",
             [](const FieldContext& f) { return number(f.gpu.platform.host); }},
    GpuField{"platform.peer_type", "", "", driver::kPlatformSection, "How GPUs reach each other.",
             [](const FieldContext& f) { return named(f.gpu.platform.peer_type, kPeerTypes); }},
    GpuField{"platform.module_id", "", "", driver::kPlatformSection, "Place in the node.",
             [](const FieldContext& f) { return number(f.gpu.platform.module); }},
    GpuField{"platform.gpu_fabric_guid", "", "", driver::kPlatformSection, "Its address in the fabric.",
             [](const FieldContext& f) { return text(f.gpu.platform.fabric_guid); }},
    GpuField{"hostname", "", "", driver::kIdentitySection, "A name that an administrator gave this GPU.",
             [](const FieldContext& f) { return text(f.gpu.identity.hostname); }},
    GpuField{"bbx.time_run", "", "seconds", driver::kInforomSection,
             "How long the board has run in its life.",
             [](const FieldContext& f) { return number(f.gpu.inforom.time_run_s, "seconds"); }},
};

}  // namespace

std::span<const GpuField> clock_and_fabric_fields() {
  return kFields;
}

}  // namespace pagoda::smi
