#include "model/deployment_plan.h"

#include <algorithm>
#include <limits>

#include "base/format.h"
#include "model/footprint.h"
#include "model/runtime_footprint.h"

namespace pagoda::model {
namespace {

Status fill_in(Deployment& d) {
  PAGODA_TRY(check_split(d.facts, d.split));
  ServingShape& serving = d.serving;
  if (serving.max_model_len > d.facts.context)
    return fail(ErrorCode::kInvalidArgument,
                format("--max-model-len {} is more than the {} tokens that the model was made for",
                       serving.max_model_len, d.facts.context),
                "max-model-len");
  if (serving.max_model_len == 0) serving.max_model_len = static_cast<int>(d.facts.context);
  serving.device_bytes = d.device.memory_bytes;
  serving.activation_dtype = d.device.kind == DeviceKind::kCpu ? DType::kF32 : DType::kBF16;
  return {};
}

// Counted weights are shared out as the facts' are.
int64_t weights_of_device(const Deployment& d) {
  const int64_t share = weight_bytes_of_device(d.facts, d.scheme, d.split);
  if (!d.weight_bytes) return share;
  const double whole = static_cast<double>(weight_bytes_of_device(d.facts, d.scheme, {}));
  return whole_number(static_cast<double>(*d.weight_bytes) * static_cast<double>(share) / whole);
}

void add_other(DeploymentPlan& plan) {
  const Deployment& d = plan.deployment;
  const int ranks = d.split.tensor * d.split.pipeline;
  plan.runtime_bytes = runtime_bytes(d.device.kind, plan.share, ranks);
  if (d.device.kind == DeviceKind::kCuda && d.cuda_graphs) plan.graph_bytes = graph_bytes(plan.share);
  plan.state_bytes = saturating_product(d.facts.state_bytes / ranks, d.serving.max_num_seqs);
}

Verdict judge(const DeploymentPlan& plan) {
  const Deployment& d = plan.deployment;
  if (!plan.need.fits()) return Verdict::kDoesNotFit;
  if (plan.taken_bytes() > d.device.free_bytes()) return Verdict::kInUse;
  if (d.sequences_wanted && plan.sequences < d.serving.max_num_seqs) return Verdict::kFitsFewer;
  return Verdict::kFits;
}

// Bytes that must pass the memory's pins for each token, and what the links add.
DecodeSpeed decode_speed(const DeploymentPlan& plan) {
  const Deployment& d = plan.deployment;
  DecodeSpeed speed;
  if (d.device.memory_bandwidth <= 0) return speed;
  // A token passes all stages of a pipeline, one after the other; latent KV is read whole on every device.
  const KvLayout layout = share_of_device(d.facts, {d.split.tensor, 1, 1}).kv;
  const double counted = static_cast<double>(weights_of_device(d)) /
                         static_cast<double>(weight_bytes_of_device(d.facts, d.scheme, d.split));
  const auto step_s = [&](double streams, double tokens) {
    const double kv =
        static_cast<double>(kv_bytes_of_sequence(layout, d.serving.kv_dtype, static_cast<int64_t>(tokens)));
    const double weights = weight_bytes_read(d.facts, d.scheme, streams) * counted / d.split.tensor;
    return (weights + streams * kv) / d.device.memory_bandwidth + plan.parallel_cost.seconds_per_token;
  };
  speed.one_stream = 1 / step_s(1, 1);
  speed.streams = std::min<double>(d.serving.max_num_seqs, std::max(1.0, plan.sequences / d.split.data));
  speed.all_streams = d.split.data * speed.streams / step_s(speed.streams, d.serving.max_model_len / 2.0);
  speed.streams *= d.split.data;
  return speed;
}

}  // namespace

int64_t DeploymentPlan::taken_bytes() const {
  return deployment.serving.kv_cache_bytes > 0
             ? saturating_sum(saturating_sum(memory.weights, memory.kv),
                              saturating_sum(memory.activations, memory.other))
             : memory.budget;
}

Result<DeploymentPlan> plan_deployment(Deployment deployment) {
  PAGODA_TRY(check_facts(deployment.facts));
  PAGODA_TRY(fill_in(deployment));
  DeploymentPlan plan;
  plan.deployment = std::move(deployment);
  const Deployment& d = plan.deployment;
  plan.share = share_of_device(d.facts, d.split);
  plan.parameters = parameter_count(d.facts);
  plan.parameters_used = parameters_used_per_token(d.facts);
  add_other(plan);
  const int64_t weights = weights_of_device(d);
  const int64_t other = saturating_sum(plan.runtime_bytes + plan.graph_bytes, plan.state_bytes);
  plan.need = memory_need(plan.share, weights, other, d.serving);
  plan.memory = plan.need.fixed;
  if (auto memory = plan_memory(plan.share, weights, other, d.serving)) plan.memory = *std::move(memory);
  plan.kv_bytes_per_token = kv_bytes_per_token(plan.share.kv, d.serving.kv_dtype);
  plan.kv_bytes_per_sequence =
      kv_bytes_of_sequence(plan.share.kv, d.serving.kv_dtype, d.serving.max_model_len);
  plan.sequences = plan.memory.sequences * d.split.data;
  plan.verdict = judge(plan);
  ServingShape longest = d.serving;
  longest.max_model_len =
      static_cast<int>(std::min<int64_t>(d.facts.context, std::numeric_limits<int>::max() / 2));
  plan.longest_model_len = largest_model_len(plan.share, weights, other, longest);
  plan.least_utilization = least_utilization(plan.share, weights, other, d.serving);
  plan.parallel_cost = tensor_parallel_cost(d.facts, d.scheme, d.split, d.device);
  plan.speed = decode_speed(plan);
  return plan;
}

}  // namespace pagoda::model
