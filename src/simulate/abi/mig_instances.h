// GPU instances and compute instances of a GPU in MIG mode, as the scenario and the settings have them: lists
// that are read whole, changed and written whole.
#pragma once

#include <nvml.h>

#include <optional>
#include <vector>

#include "simulate/abi/reply.h"

namespace pagoda::simulate {

// What stands behind an nvmlGpuInstance_t (compute == kNone) and an nvmlComputeInstance_t.
struct Instance {
  static constexpr unsigned kNone = 0xFFFFFFFF;
  unsigned gpu = 0, id = 0, compute = kNone;
};
nvmlGpuInstance_t gpu_instance_handle(const Instance& instance);
nvmlComputeInstance_t compute_instance_handle(const Instance& instance);
// Null for what is no handle of ours, or of the other kind.
const Instance* find_instance(nvmlGpuInstance_t handle);
const Instance* find_instance(nvmlComputeInstance_t handle);

// A list's record as numbers and texts at hand.
class Row {
 public:
  Row(const Reply& reply, Record record) : reply_(&reply), record_(std::move(record)) {}
  unsigned number(std::string_view key) const {
    return Reply::as<unsigned>(reply_->machine().record_value(reply_->device(), record_, key).number);
  }
  std::string text(std::string_view key) const {
    return reply_->machine().record_value(reply_->device(), record_, key).text;
  }
  bool has(std::string_view key) const { return record_.contains(key); }
  const Record& record() const { return record_; }

 private:
  const Reply* reply_;
  Record record_;
};
// A list of the whole GPU; empty where it has none.
std::vector<Row> rows_of(const Reply& reply, std::string_view key);
std::optional<Row> row_where(const Reply& reply, std::string_view key, std::string_view field,
                             unsigned value);

// Compute profiles: how many slices each takes.
struct ComputeProfile {
  unsigned profile, slices;
};
std::optional<ComputeProfile> compute_profile(unsigned profile);

nvmlReturn_t create_gpu_instance(Reply& reply, unsigned profile_id, std::optional<unsigned> start,
                                 Instance& made);
nvmlReturn_t destroy_gpu_instance(Reply& reply, unsigned id);
nvmlReturn_t create_compute_instance(Reply& reply, unsigned gpu_instance, unsigned profile_id,
                                     Instance& made);
nvmlReturn_t destroy_compute_instance(Reply& reply, unsigned gpu_instance, unsigned id);
// How many more of a GPU instance profile fit, and where.
std::vector<unsigned> free_starts(const Reply& reply, const Row& profile);
unsigned compute_slices_left(const Reply& reply, unsigned gpu_instance);

}  // namespace pagoda::simulate
