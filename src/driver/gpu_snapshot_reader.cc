#include "driver/gpu_snapshot_reader.h"

#include <array>
#include <thread>

#include "driver/gpu_section_readers.h"

namespace pagoda::driver {
namespace {

struct SectionReader {
  unsigned section;
  void (*read)(const Gpu&, GpuSnapshot&);
};

constexpr std::array kReaders = {
    SectionReader{kIdentitySection, read_identity},
    SectionReader{kInforomSection, read_inforom},
    SectionReader{kPlatformSection, read_platform},
    SectionReader{kPciSection, read_pci},
    SectionReader{kModesSection, read_modes},
    SectionReader{kPerformanceSection, read_performance},
    SectionReader{kClockEventsSection, read_clock_events},
    SectionReader{kMemorySection, read_memory},
    SectionReader{kUtilizationSection, read_utilization},
    SectionReader{kSamplesSection, read_samples},
    SectionReader{kEncoderSection, read_encoder},
    SectionReader{kEccSection, read_ecc},
    SectionReader{kRetiredSection, read_retired},
    SectionReader{kRemappedSection, read_remapped},
    SectionReader{kTemperatureSection, read_temperature},
    SectionReader{kPowerSection, read_power},
    SectionReader{kPowerSmoothingSection, read_power_smoothing},
    SectionReader{kClocksSection, read_clocks},
    SectionReader{kSupportedClocksSection, read_supported_clocks},
    SectionReader{kFabricSection, read_fabric},
    SectionReader{kNvLinkSection, read_nvlink},
    SectionReader{kMigSection, read_mig},
    SectionReader{kMigProfilesSection, read_mig_profiles},
    SectionReader{kAccountedSection, read_accounted},
    SectionReader{kTopologySection, read_affinity},
    SectionReader{kViolationsSection, read_violations},
};

void read_nearness(const std::vector<Gpu>& gpus, MachineSnapshot& machine) {
  for (size_t i = 0; i < gpus.size(); ++i) {
    for (size_t j = 0; j < gpus.size(); ++j) {
      if (i == j || !gpus[j].handle()) {
        machine.gpus[i].nearness.emplace_back();
        continue;
      }
      machine.gpus[i].nearness.emplace_back(
          as_number(gpus[i].read(nvml::kDeviceGetTopologyCommonAncestor, *gpus[j].handle())));
    }
  }
}

}  // namespace

void read_fields(const Gpu& gpu, std::span<const FieldTarget> targets, GpuSnapshot& out) {
  std::vector<NvmlField> wanted;
  for (const FieldTarget& target : targets) wanted.push_back(target.field);
  const auto values = gpu.fields(wanted);
  for (size_t i = 0; i < targets.size(); ++i) targets[i].put(out, values[i]);
}

Reading<std::string> read_private_text(const Gpu& gpu, const char* key) {
  static constexpr nvml::Call<nvmlReturn_t(nvmlDevice_t, const char*, char*, unsigned)> kCall{
      {"pagodaSimulatedDeviceGetText"}};
  return gpu.text(kCall, key);
}

DriverReadings read_driver(const Nvml& nvml) {
  return {nvml.text(nvml::kSystemGetDriverVersion), nvml.text(nvml::kSystemGetNVMLVersion),
          as_number(nvml.read(nvml::kSystemGetCudaDriverVersion_v2))};
}

GpuSnapshot read_gpu(const Nvml& nvml, const Gpu& gpu, unsigned sections) {
  GpuSnapshot out;
  out.index = gpu.index();
  for (const SectionReader& row : kReaders) {
    if ((sections & row.section) != 0) row.read(gpu, out);
  }
  if ((sections & kVgpuSection) != 0) read_vgpu(nvml, gpu, out);
  if ((sections & kProcessesSection) != 0) read_processes(nvml, gpu, out);
  if ((sections & kProcessUtilizationSection) != 0)
    out.process_utilization = read_process_utilization(gpu, 0);
  return out;
}

MachineSnapshot read_machine(const Nvml& nvml, unsigned sections, const std::vector<Gpu>& gpus) {
  const std::vector<Gpu>& chosen = gpus.empty() ? nvml.gpus() : gpus;
  MachineSnapshot machine;
  machine.time = std::chrono::system_clock::now();
  machine.driver = read_driver(nvml);
  machine.attached = static_cast<unsigned>(nvml.gpus().size());
  machine.gpus.resize(chosen.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < chosen.size(); ++i) {
    threads.emplace_back([&, i] { machine.gpus[i] = read_gpu(nvml, chosen[i], sections); });
  }
  for (std::thread& thread : threads) thread.join();
  if ((sections & kTopologySection) != 0) read_nearness(chosen, machine);
  return machine;
}

}  // namespace pagoda::driver
