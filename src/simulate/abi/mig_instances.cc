#include "simulate/abi/mig_instances.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "base/format.h"

namespace pagoda::simulate {
namespace {

constexpr unsigned kMostInstances = 16;

struct Handles {
  std::mutex mutex;
  std::deque<Instance> instances;  // never removed: a client may hold a handle of what is destroyed
};
Handles& handles() {
  static auto* all = new Handles;
  return *all;
}

const Instance* remember(const Instance& wanted) {
  std::lock_guard lock(handles().mutex);
  for (const Instance& known : handles().instances) {
    if (known.gpu == wanted.gpu && known.id == wanted.id && known.compute == wanted.compute) return &known;
  }
  return &handles().instances.emplace_back(wanted);
}

const Instance* known_instance(const void* handle, bool compute) {
  std::lock_guard lock(handles().mutex);
  for (const Instance& known : handles().instances) {
    if (&known == handle && (known.compute != Instance::kNone) == compute) return &known;
  }
  return nullptr;
}

Record numbers(std::initializer_list<std::pair<const char*, unsigned>> values) {
  Record record;
  for (const auto& [key, number] : values) record[key] = Value::of(number);
  return record;
}

std::vector<Record> records_of(const Reply& reply, std::string_view key) {
  const Answer list = reply.get(key);
  return list.list ? *list.list : std::vector<Record>();
}

// The smallest id from `first` on that no row has.
unsigned free_id(const std::vector<Row>& rows, std::string_view key, unsigned first) {
  unsigned id = first;
  while (std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.number(key) == id; })) ++id;
  return id;
}

std::vector<Row> compute_rows(const Reply& reply, unsigned gpu_instance) {
  std::vector<Row> rows = rows_of(reply, "mig.compute_instances");
  std::erase_if(rows, [&](const Row& row) { return row.number("gpu_instance") != gpu_instance; });
  return rows;
}

// Memory of a MIG device in bytes, all free, and an identity made from its place.
Record mig_device(const Reply& reply, const Row& profile, unsigned gpu_instance, unsigned compute_instance,
                  unsigned slices) {
  const unsigned gpu_slices = std::max(1u, profile.number("slices"));
  Record device = numbers({{"gpu_instance", gpu_instance},
                           {"compute_instance", compute_instance},
                           {"sm_count", profile.number("sm_count") * slices / gpu_slices},
                           {"copy_engines", profile.number("copy_engines")},
                           {"decoders", profile.number("decoders")},
                           {"encoders", profile.number("encoders")},
                           {"jpegs", profile.number("jpegs")},
                           {"ofas", profile.number("ofas")},
                           {"gpu_slices", gpu_slices},
                           {"compute_slices", slices},
                           {"memory_mib", profile.number("memory_mib")},
                           {"memory.reserved", 0},
                           {"memory.used", 0}});
  device["memory.total"] = Value::of(static_cast<Number>(profile.number("memory_mib")) * 1048576);
  std::string name = profile.text("name");
  if (slices < gpu_slices && name.starts_with("MIG ")) name = format("MIG {}c.{}", slices, name.substr(4));
  device["name"] = Value::of_text(name);
  const std::string uuid = reply.get("uuid").text;
  device["uuid"] = Value::of_text(format("MIG-{:08x}-{:04x}-5000-8000-{}",
                                         (reply.device().gpu << 16) + gpu_instance, compute_instance,
                                         uuid.size() > 12 ? uuid.substr(uuid.size() - 12) : "000000000000"));
  return device;
}

nvmlReturn_t write_list(Reply& reply, const std::string& key, std::vector<Record> records) {
  return reply.set({{key, Value::of_list(std::move(records))}});
}

}  // namespace

nvmlGpuInstance_t gpu_instance_handle(const Instance& instance) {
  return reinterpret_cast<nvmlGpuInstance_t>(const_cast<Instance*>(remember(instance)));
}
nvmlComputeInstance_t compute_instance_handle(const Instance& instance) {
  return reinterpret_cast<nvmlComputeInstance_t>(const_cast<Instance*>(remember(instance)));
}
const Instance* find_instance(nvmlGpuInstance_t handle) {
  return known_instance(handle, false);
}
const Instance* find_instance(nvmlComputeInstance_t handle) {
  return known_instance(handle, true);
}

std::vector<Row> rows_of(const Reply& reply, std::string_view key) {
  std::vector<Row> rows;
  for (Record& record : records_of(reply, key)) rows.emplace_back(reply, std::move(record));
  return rows;
}

std::optional<Row> row_where(const Reply& reply, std::string_view key, std::string_view field,
                             unsigned value) {
  for (Row& row : rows_of(reply, key)) {
    if (row.number(field) == value) return std::move(row);
  }
  return std::nullopt;
}

std::optional<ComputeProfile> compute_profile(unsigned profile) {
  constexpr std::array kProfiles = {ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE, 1},
                                    ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE, 2},
                                    ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE, 3},
                                    ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE, 4},
                                    ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE, 7},
                                    ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE, 8},
                                    ComputeProfile{NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE, 6}};
  const auto row =
      std::find_if(kProfiles.begin(), kProfiles.end(), [&](const auto& p) { return p.profile == profile; });
  return row == kProfiles.end() ? std::nullopt : std::optional(*row);
}

std::vector<unsigned> free_starts(const Reply& reply, const Row& profile) {
  std::vector<unsigned> starts;
  const unsigned size = profile.number("placement_size"),
                 step = std::max(1u, profile.number("placement_step"));
  const auto taken = rows_of(reply, "mig.gpu_instances");
  for (unsigned i = 0; i < profile.number("placement_count"); ++i) {
    const unsigned start = i * step;
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const Row& row) {
      return start < row.number("start") + row.number("size") && row.number("start") < start + size;
    });
    if (free) starts.push_back(start);
  }
  return starts;
}

nvmlReturn_t create_gpu_instance(Reply& reply, unsigned profile_id, std::optional<unsigned> start,
                                 Instance& made) {
  if (reply.require(reply.number_or("mig.current", 0) != 0, NVML_ERROR_NOT_SUPPORTED).failed()) return reply;
  const auto profile = row_where(reply, "mig.gpu_profiles", "id", profile_id);
  if (!profile) return NVML_ERROR_NOT_SUPPORTED;
  const auto starts = free_starts(reply, *profile);
  if (starts.empty()) return NVML_ERROR_INSUFFICIENT_RESOURCES;
  if (start && std::find(starts.begin(), starts.end(), *start) == starts.end())
    return NVML_ERROR_INSUFFICIENT_RESOURCES;
  const unsigned id = free_id(rows_of(reply, "mig.gpu_instances"), "id", 1);
  auto records = records_of(reply, "mig.gpu_instances");
  records.push_back(numbers({{"id", id},
                             {"profile_id", profile_id},
                             {"start", start.value_or(starts.front())},
                             {"size", profile->number("placement_size")}}));
  made = {reply.device().gpu, id, Instance::kNone};
  return write_list(reply, "mig.gpu_instances", std::move(records));
}

nvmlReturn_t destroy_gpu_instance(Reply& reply, unsigned id) {
  if (reply.failed()) return reply;
  if (!compute_rows(reply, id).empty()) return NVML_ERROR_IN_USE;
  auto records = records_of(reply, "mig.gpu_instances");
  if (std::erase_if(records, [&](const Record& record) { return Row(reply, record).number("id") == id; }) ==
      0)
    return NVML_ERROR_NOT_FOUND;
  return write_list(reply, "mig.gpu_instances", std::move(records));
}

unsigned compute_slices_left(const Reply& reply, unsigned gpu_instance) {
  const auto instance = row_where(reply, "mig.gpu_instances", "id", gpu_instance);
  const auto profile =
      instance ? row_where(reply, "mig.gpu_profiles", "id", instance->number("profile_id")) : std::nullopt;
  if (!profile) return 0;
  unsigned taken = 0;
  for (const Row& row : compute_rows(reply, gpu_instance)) taken += row.number("size");
  return profile->number("slices") > taken ? profile->number("slices") - taken : 0;
}

nvmlReturn_t create_compute_instance(Reply& reply, unsigned gpu_instance, unsigned profile_id,
                                     Instance& made) {
  if (reply.failed()) return reply;
  const auto instance = row_where(reply, "mig.gpu_instances", "id", gpu_instance);
  if (!instance) return NVML_ERROR_NOT_FOUND;
  const auto wanted = compute_profile(profile_id);
  if (!wanted) return NVML_ERROR_NOT_SUPPORTED;
  if (compute_slices_left(reply, gpu_instance) < wanted->slices) return NVML_ERROR_INSUFFICIENT_RESOURCES;
  const auto profile = row_where(reply, "mig.gpu_profiles", "id", instance->number("profile_id"));
  if (!profile) return NVML_ERROR_NOT_SUPPORTED;
  const unsigned id = free_id(compute_rows(reply, gpu_instance), "id", 0);
  unsigned start = 0;
  for (const Row& row : compute_rows(reply, gpu_instance))
    start = std::max(start, row.number("start") + row.number("size"));
  auto instances = records_of(reply, "mig.compute_instances");
  instances.push_back(numbers({{"gpu_instance", gpu_instance},
                               {"id", id},
                               {"profile_id", profile_id},
                               {"start", start},
                               {"size", wanted->slices}}));
  auto devices = records_of(reply, "mig.devices");
  if (devices.size() >= kMostInstances) return NVML_ERROR_INSUFFICIENT_RESOURCES;
  devices.push_back(mig_device(reply, *profile, gpu_instance, id, wanted->slices));
  made = {reply.device().gpu, gpu_instance, id};
  return reply.set({{"mig.compute_instances", Value::of_list(std::move(instances))},
                    {"mig.devices", Value::of_list(std::move(devices))}});
}

nvmlReturn_t destroy_compute_instance(Reply& reply, unsigned gpu_instance, unsigned id) {
  if (reply.failed()) return reply;
  for (const Row& process : rows_of(reply, "processes")) {
    if (process.has("gpu_instance") && process.number("gpu_instance") == gpu_instance &&
        process.number("compute_instance") == id)
      return NVML_ERROR_IN_USE;
  }
  auto instances = records_of(reply, "mig.compute_instances");
  const auto same = [&](const Record& record, std::string_view compute_key) {
    const Row row(reply, record);
    return row.number("gpu_instance") == gpu_instance && row.number(compute_key) == id;
  };
  if (std::erase_if(instances, [&](const Record& record) { return same(record, "id"); }) == 0)
    return NVML_ERROR_NOT_FOUND;
  auto devices = records_of(reply, "mig.devices");
  std::erase_if(devices, [&](const Record& record) { return same(record, "compute_instance"); });
  return reply.set({{"mig.compute_instances", Value::of_list(std::move(instances))},
                    {"mig.devices", Value::of_list(std::move(devices))}});
}

}  // namespace pagoda::simulate
