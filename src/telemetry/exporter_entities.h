// The GPUs and MIG instances that have series, and the labels that name them, as dcgm-exporter writes them:
// gpu, UUID, pci_bus_id, device, modelName, GPU_I_PROFILE, GPU_I_ID, Hostname, then the label fields.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/device_choice.h"
#include "telemetry/exporter_plan.h"
#include "telemetry/exposition.h"
#include "telemetry/gpu_sample.h"
#include "telemetry/job_mapping.h"
#include "telemetry/pod_labels.h"

namespace pagoda::telemetry {

struct LabelStyle {
  std::string hostname;         // empty: no such label
  bool old_names = false;       // uuid, pod_name, …: those of dcgm-exporter 1.x
  bool replace_blanks = false;  // in modelName
};

struct ExportedEntity {
  size_t gpu = 0;             // place in the sample
  std::optional<size_t> mig;  // place in its mig.devices
  std::optional<unsigned> instance;
  // One where nothing else is known; one for each job or pod that has the device.
  std::vector<Labels> labels;
};

// Remembers who a GPU is, so that one that is lost keeps its name.
class EntityNames {
 public:
  EntityNames(LabelStyle style, DeviceChoice choice) : style_(std::move(style)), choice_(std::move(choice)) {}

  void learn(const GpuSample& sample);
  // Those chosen; `labels` are the plan's label columns.
  std::vector<ExportedEntity> entities(const GpuSample& sample, const std::vector<ExportColumn>& labels,
                                       const JobsByGpu& jobs, const std::vector<PodDevice>& pods) const;
  // Every GPU of which something is chosen, as itself, without jobs or pods.
  std::vector<ExportedEntity> gpus(const GpuSample& sample) const;

 private:
  struct Name {
    std::string uuid, bus_id, model;
  };
  Labels base(const driver::GpuSnapshot& gpu, const driver::MigDevice* mig) const;
  void add_users(ExportedEntity& entity, const GpuSample& sample, const JobsByGpu& jobs,
                 const std::vector<PodDevice>& pods) const;
  bool is_of(const std::string& device_id, const driver::GpuSnapshot& gpu,
             const driver::MigDevice* mig) const;

  LabelStyle style_;
  DeviceChoice choice_;
  std::map<unsigned, Name> names_;  // by NVML's index
};

// The field's value of that entity. What only the whole board has (its temperature) is told of its MIG
// instances, too.
FieldReading read_for(const FieldRow& field, const GpuSample& sample, const ExportedEntity& entity);

// Whether the driver still reaches it. A lost GPU may answer from what the driver remembers of it; what has
// to come from the card itself decides.
bool answers(const driver::GpuSnapshot& gpu);

}  // namespace pagoda::telemetry
