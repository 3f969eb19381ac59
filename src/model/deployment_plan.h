// Will a model fit on devices, and what will it do there: memory of each device, sequences at once, speed.
// The arithmetic of memory is the engine's (footprint.h, memory_plan.h); this adds what a plan made
// beforehand must bring itself: weights from facts, the shares of a split, and what runs beside the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/device_facts.h"
#include "model/memory_plan.h"
#include "model/model_facts.h"
#include "model/tensor_parallel.h"

namespace pagoda::model {

struct Deployment {
  ModelFacts facts;
  WeightScheme scheme;                  // what the weights are held in
  std::optional<int64_t> weight_bytes;  // of the whole model, where they were counted
  DeviceFacts device;
  Parallelism split;
  // device_bytes and activation_dtype follow the device; max_model_len 0: the model's context.
  ServingShape serving;
  bool sequences_wanted = false;  // max_num_seqs was asked for: fewer at once do not satisfy
  bool cuda_graphs = true;
  double swap_gib = 0;
};

enum class Verdict : uint8_t {
  kFits,
  kFitsFewer,   // not as many sequences at once as were asked for
  kInUse,       // it would, but others hold the memory
  kDoesNotFit,  // not even one sequence
};

struct DecodeSpeed {
  double one_stream = 0;   // tokens per second, bound by memory bandwidth and links; 0: unknown
  double all_streams = 0;  // of `streams` together, at half of max_model_len
  double streams = 0;
};

struct DeploymentPlan {
  Deployment deployment;  // with what it left open filled in
  ModelShape share;       // of one device
  MemoryNeed need;
  MemoryPlan memory;  // of one device; blocks only where one sequence fits
  int64_t graph_bytes = 0, runtime_bytes = 0, state_bytes = 0;  // parts of memory.other
  int64_t parameters = 0, parameters_used = 0;
  int64_t kv_bytes_per_token = 0;     // of one device, inside every window
  int64_t kv_bytes_per_sequence = 0;  // of one device, at max_model_len, at rest
  double sequences = 0;               // of max_model_len at once, over all data-parallel ranks
  Verdict verdict = Verdict::kDoesNotFit;
  int longest_model_len = 0;     // that fits; 0: none
  double least_utilization = 0;  // that fits; 0: none
  DecodeSpeed speed;
  TensorParallelCost parallel_cost;

  bool fits() const { return verdict == Verdict::kFits; }
  // Of one device: its whole share, unless KV's size is given by hand.
  int64_t taken_bytes() const;
};

// kInvalidArgument when the model cannot be split so or was not made for such a length.
Result<DeploymentPlan> plan_deployment(Deployment deployment);

}  // namespace pagoda::model
