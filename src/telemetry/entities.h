// What DCGM calls entities: GPUs, the GPU instances and the compute instances on them, each with a number.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "telemetry/gpu_sample.h"

namespace pagoda::telemetry {

enum class EntityKind { kGpu, kGpuInstance, kComputeInstance };

// A GPU's number is NVML's index. Instances are numbered through, eight to a GPU: the third GPU instance of
// GPU 1 is 10.
struct EntityId {
  EntityKind kind = EntityKind::kGpu;
  unsigned id = 0;
  auto operator<=>(const EntityId&) const = default;
};

// "GPU", "GPU-I", "GPU-CI", as dcgmi prints them.
std::string_view kind_name(EntityKind kind);
// "GPU 0", "GPU-I 10".
std::string to_text(EntityId id);
// "gpu:0", "instance:10", "compute_instance:10": what parse_entities takes.
std::string to_word(EntityId id);

struct Entity {
  EntityId id;
  size_t gpu = 0;             // place in MachineSnapshot::gpus
  std::optional<size_t> mig;  // place in its mig.devices; of a GPU instance: the first device on it
  unsigned gpu_instance = 0, compute_instance = 0;  // NVML's ids
};

// GPUs in the snapshot's order, each followed by its GPU instances, each of those by its compute instances.
std::vector<Entity> entities_of(const driver::MachineSnapshot& machine);
const Entity* find_entity(const std::vector<Entity>& entities, EntityId id);

// "0,gpu:1,instance:2,compute_instance:3,0/1,0/1/0,*": by kind and number, by place in the hierarchy (GPU,
// GPU instance, compute instance: NVML's numbers), or all GPUs. kInvalidArgument names the word that is
// wrong, kNotFound the entity that is not there.
Result<std::vector<EntityId>> parse_entities(std::string_view list, const std::vector<Entity>& entities);

}  // namespace pagoda::telemetry
