#include "telemetry/exporter_entities.h"

#include <algorithm>
#include <set>

namespace pagoda::telemetry {
namespace {

bool in_mig_mode(const driver::GpuSnapshot& gpu) {
  return !gpu.mig.devices.empty();
}

std::string model_name(std::string name, const LabelStyle& style) {
  if (style.replace_blanks) std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

// "1c.3g.40gb" is a compute instance on the GPU instance "3g.40gb".
std::string instance_profile(const driver::MigDevice& mig) {
  std::string name = mig.name ? *mig.name : "";
  constexpr std::string_view kPrefix = "MIG ";
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  const size_t compute = name.find("c.");
  if (compute != std::string::npos && compute < name.find('g')) name.erase(0, compute + 2);
  return name;
}

// Without the number behind it under which a shared device was given out.
std::string_view without_share(std::string_view device_id) {
  return device_id.substr(0, std::min(device_id.find("::"), device_id.size()));
}

template <class T>
bool unreachable(const driver::Reading<T>& reading) {
  return !reading && (reading.error().reason == driver::AbsenceReason::kLost ||
                      reading.error().reason == driver::AbsenceReason::kTimedOut);
}

}  // namespace

bool answers(const driver::GpuSnapshot& gpu) {
  if (!gpu.identity.uuid) return false;
  const bool any_value = gpu.temperature.gpu || gpu.memory.used || gpu.clock_events.active;
  const bool any_unreachable = unreachable(gpu.temperature.gpu) || unreachable(gpu.memory.used) ||
                               unreachable(gpu.clock_events.active);
  return any_value || !any_unreachable;
}

FieldReading read_for(const FieldRow& field, const GpuSample& sample, const ExportedEntity& entity) {
  const bool of_the_board = field.level == FieldLevel::kGpu || field.level == FieldLevel::kSystem;
  return read_field(field, {sample, entity.gpu, of_the_board ? std::nullopt : entity.mig});
}

void EntityNames::learn(const GpuSample& sample) {
  for (const driver::GpuSnapshot& gpu : sample.machine.gpus) {
    Name& name = names_[gpu.index];
    if (gpu.identity.uuid) name.uuid = *gpu.identity.uuid;
    if (gpu.pci.bus_id) name.bus_id = *gpu.pci.bus_id;
    if (gpu.identity.name) name.model = *gpu.identity.name;
  }
}

Labels EntityNames::base(const driver::GpuSnapshot& gpu, const driver::MigDevice* mig) const {
  const auto found = names_.find(gpu.index);
  const Name name = found == names_.end() ? Name{} : found->second;
  const std::string index = std::to_string(gpu.index);
  Labels labels;
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) labels.add(label, value);
  };
  add("gpu", index);
  add(style_.old_names ? "uuid" : "UUID", name.uuid);
  add("pci_bus_id", name.bus_id);
  add("device", "nvidia" + index);
  add("modelName", model_name(name.model, style_));
  if (mig != nullptr) {
    add("GPU_I_PROFILE", instance_profile(*mig));
    add("GPU_I_ID", mig->gpu_instance ? std::to_string(*mig->gpu_instance) : "");
  }
  add("Hostname", style_.hostname);
  return labels;
}

bool EntityNames::is_of(const std::string& device_id, const driver::GpuSnapshot& gpu,
                        const driver::MigDevice* mig) const {
  const std::string_view id = without_share(device_id);
  if (mig != nullptr) return mig->uuid && id == *mig->uuid;
  const auto name = names_.find(gpu.index);
  return (name != names_.end() && !name->second.uuid.empty() && id == name->second.uuid) ||
         id == "nvidia" + std::to_string(gpu.index);
}

void EntityNames::add_users(ExportedEntity& entity, const GpuSample& sample, const JobsByGpu& jobs,
                            const std::vector<PodDevice>& pods) const {
  const driver::GpuSnapshot& gpu = sample.machine.gpus[entity.gpu];
  const driver::MigDevice* const mig = entity.mig ? &gpu.mig.devices[*entity.mig] : nullptr;
  std::vector<Labels> with_pods;
  for (const PodDevice& pod : pods) {
    if (!is_of(pod.device_id, gpu, mig)) continue;
    Labels labels = entity.labels.front();
    labels.add(style_.old_names ? "container_name" : "container", pod.container);
    labels.add(style_.old_names ? "pod_namespace" : "namespace", pod.name_space);
    labels.add(style_.old_names ? "pod_name" : "pod", pod.pod);
    // Two shares of one device in one container are one user of it.
    const auto same = [&](const Labels& other) { return other.text() == labels.text(); };
    if (std::none_of(with_pods.begin(), with_pods.end(), same)) with_pods.push_back(std::move(labels));
  }
  if (!with_pods.empty()) entity.labels = std::move(with_pods);
  const auto running = jobs.find(gpu.index);
  if (running == jobs.end()) return;
  std::vector<Labels> with_jobs;
  for (const std::string& job : running->second) {
    for (const Labels& labels : entity.labels) with_jobs.push_back(labels.with("hpc_job", job));
  }
  entity.labels = std::move(with_jobs);
}

std::vector<ExportedEntity> EntityNames::entities(const GpuSample& sample,
                                                  const std::vector<ExportColumn>& labels,
                                                  const JobsByGpu& jobs,
                                                  const std::vector<PodDevice>& pods) const {
  std::vector<ExportedEntity> list;
  const auto add = [&](size_t gpu, std::optional<size_t> mig, std::optional<unsigned> instance) {
    const driver::GpuSnapshot& snapshot = sample.machine.gpus[gpu];
    ExportedEntity entity{gpu, mig, instance, {base(snapshot, mig ? &snapshot.mig.devices[*mig] : nullptr)}};
    for (const ExportColumn& column : labels) {
      const FieldReading value = read_for(*column.field, sample, entity);
      if (value) entity.labels.front().add(column.line.name, to_text(*value));
    }
    add_users(entity, sample, jobs, pods);
    list.push_back(std::move(entity));
  };
  unsigned instance_number = 0;
  for (size_t gpu = 0; gpu < sample.machine.gpus.size(); ++gpu) {
    const driver::GpuSnapshot& snapshot = sample.machine.gpus[gpu];
    if (choice_.has_gpu(snapshot.index, in_mig_mode(snapshot))) add(gpu, std::nullopt, std::nullopt);
    std::set<unsigned> seen;  // compute instances of one GPU instance are one entity
    for (size_t mig = 0; mig < snapshot.mig.devices.size(); ++mig) {
      const auto& instance = snapshot.mig.devices[mig].gpu_instance;
      if (!instance || !seen.insert(*instance).second) continue;
      if (choice_.has_instance(instance_number++)) add(gpu, mig, *instance);
    }
  }
  return list;
}

std::vector<ExportedEntity> EntityNames::gpus(const GpuSample& sample) const {
  std::vector<ExportedEntity> list;
  for (size_t gpu = 0; gpu < sample.machine.gpus.size(); ++gpu) {
    const driver::GpuSnapshot& snapshot = sample.machine.gpus[gpu];
    if (!choice_.flexible && !choice_.instances && !choice_.has_gpu(snapshot.index, false)) continue;
    list.push_back({gpu, std::nullopt, std::nullopt, {base(snapshot, nullptr)}});
  }
  return list;
}

}  // namespace pagoda::telemetry
