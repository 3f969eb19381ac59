#include "telemetry/entities.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr unsigned kInstancesPerGpu = 8;

struct KindRow {
  EntityKind kind;
  std::string_view name, word;
};
constexpr std::array kKinds = {
    KindRow{EntityKind::kGpu, "GPU", "gpu"},
    KindRow{EntityKind::kGpuInstance, "GPU-I", "instance"},
    KindRow{EntityKind::kComputeInstance, "GPU-CI", "compute_instance"},
};
const KindRow& row_of(EntityKind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

std::optional<unsigned> number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// The MIG devices of one GPU in order of GPU instance and compute instance.
void add_instances(const driver::GpuSnapshot& gpu, size_t place, std::vector<Entity>& out) {
  std::vector<size_t> order;
  for (size_t i = 0; i < gpu.mig.devices.size(); ++i) {
    if (gpu.mig.devices[i].gpu_instance && gpu.mig.devices[i].compute_instance) order.push_back(i);
  }
  const auto key = [&](size_t i) {
    return std::pair(*gpu.mig.devices[i].gpu_instance, *gpu.mig.devices[i].compute_instance);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  unsigned instances = 0, compute = 0;
  std::optional<unsigned> current;
  for (const size_t i : order) {
    const auto [gi, ci] = key(i);
    if (current != gi) {
      out.push_back(
          {{EntityKind::kGpuInstance, gpu.index * kInstancesPerGpu + instances++}, place, i, gi, 0});
      current = gi;
    }
    out.push_back(
        {{EntityKind::kComputeInstance, gpu.index * kInstancesPerGpu + compute++}, place, i, gi, ci});
  }
}

// "0/1/0": the entity with these NVML ids.
const Entity* in_hierarchy(std::string_view word, const std::vector<Entity>& entities) {
  std::vector<unsigned> path;
  for (const std::string_view part : split(word, '/')) {
    const auto id = number(part);
    if (!id) return nullptr;
    path.push_back(*id);
  }
  if (path.size() < 2 || path.size() > 3) return nullptr;
  const Entity* gpu = find_entity(entities, {EntityKind::kGpu, path[0]});
  if (gpu == nullptr) return nullptr;
  const auto kind = path.size() == 2 ? EntityKind::kGpuInstance : EntityKind::kComputeInstance;
  for (const Entity& entity : entities) {
    if (entity.gpu == gpu->gpu && entity.id.kind == kind && entity.gpu_instance == path[1] &&
        (path.size() == 2 || entity.compute_instance == path[2]))
      return &entity;
  }
  return nullptr;
}

Result<EntityId> parse_one(std::string_view word, const std::vector<Entity>& entities) {
  if (word.find('/') != std::string_view::npos) {
    if (const Entity* entity = in_hierarchy(word, entities)) return entity->id;
    return fail(ErrorCode::kNotFound, format("There is no entity {}; `dcgmi discovery -c` lists them", word));
  }
  EntityId id;
  const size_t colon = word.find(':');
  std::string_view digits = word;
  if (colon != std::string_view::npos) {
    const auto row = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const KindRow& r) { return r.word == word.substr(0, colon); });
    if (row == kKinds.end())
      return fail(
          ErrorCode::kInvalidArgument,
          format("'{}' is no kind of entity; gpu, instance and compute_instance are", word.substr(0, colon)));
    id.kind = row->kind;
    digits = word.substr(colon + 1);
  }
  const auto value = number(digits);
  if (!value)
    return fail(ErrorCode::kInvalidArgument, format("'{}' is no entity, as in 0, gpu:1 or 0/2/0", word));
  id.id = *value;
  if (find_entity(entities, id) == nullptr)
    return fail(ErrorCode::kNotFound, format("There is no {}; `dcgmi discovery -l` lists them", to_text(id)));
  return id;
}

}  // namespace

std::string_view kind_name(EntityKind kind) {
  return row_of(kind).name;
}
std::string to_text(EntityId id) {
  return format("{} {}", row_of(id.kind).name, id.id);
}
std::string to_word(EntityId id) {
  return format("{}:{}", row_of(id.kind).word, id.id);
}

std::vector<Entity> entities_of(const driver::MachineSnapshot& machine) {
  std::vector<Entity> out;
  for (size_t i = 0; i < machine.gpus.size(); ++i) {
    out.push_back({{EntityKind::kGpu, machine.gpus[i].index}, i, std::nullopt, 0, 0});
    add_instances(machine.gpus[i], i, out);
  }
  return out;
}

const Entity* find_entity(const std::vector<Entity>& entities, EntityId id) {
  const auto found =
      std::find_if(entities.begin(), entities.end(), [&](const Entity& e) { return e.id == id; });
  return found == entities.end() ? nullptr : &*found;
}

Result<std::vector<EntityId>> parse_entities(std::string_view list, const std::vector<Entity>& entities) {
  std::vector<EntityId> ids;
  for (const std::string_view word : split(list, ',')) {
    if (word == "*") {
      for (const Entity& entity : entities) {
        if (entity.id.kind == EntityKind::kGpu) ids.push_back(entity.id);
      }
      continue;
    }
    PAGODA_ASSIGN(const EntityId id, parse_one(word, entities));
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  return ids;
}

}  // namespace pagoda::telemetry
