// plan_report_json(): the same plan as plan_report_text(), field by field.
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/plan_report.h"

namespace pagoda::app {
namespace {

using Json = nlohmann::ordered_json;
using model::DeploymentPlan;
using model::Verdict;

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFits:
      return "fits";
    case Verdict::kFitsFewer:
      return "fits_fewer";
    case Verdict::kInUse:
      return "in_use";
    case Verdict::kDoesNotFit:
      return "does_not_fit";
  }
  return "";
}

std::string_view word_of(model::LinkKind link) {
  switch (link) {
    case model::LinkKind::kNone:
      return "none";
    case model::LinkKind::kNvLink:
      return "nvlink";
    case model::LinkKind::kPcie:
      return "pcie";
    case model::LinkKind::kNetwork:
      return "network";
  }
  return "";
}

std::string_view word_of(model::RungKind kind) {
  switch (kind) {
    case model::RungKind::kFourBit:
      return "four_bit";
    case model::RungKind::kShorter:
      return "shorter";
    case model::RungKind::kSwap:
      return "swap";
    case model::RungKind::kFourBitShorter:
      return "four_bit_shorter";
    case model::RungKind::kMoreDevices:
      return "more_devices";
    case model::RungKind::kOtherCard:
      return "other_card";
  }
  return "";
}

// Three digits after the point are enough, and the same on every machine.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

Json model_json(const PlanReport& report) {
  const DeploymentPlan& plan = report.plan;
  const auto& facts = plan.deployment.facts;
  return {{"name", facts.name},
          {"architecture", facts.architecture},
          {"parameters", plan.parameters},
          {"parameters_used_per_token", plan.parameters_used},
          {"layers", facts.layers},
          {"context", facts.context},
          {"weights", plan.deployment.scheme.name},
          {"weights_counted", plan.deployment.weight_bytes.has_value()},
          {"engine", report.model.engine_refusal.empty()},
          {"engine_refusal", report.model.engine_refusal}};
}

Json device_json(const DeploymentPlan& plan) {
  const auto& device = plan.deployment.device;
  return {{"kind", device.kind == DeviceKind::kCpu ? "cpu" : "cuda"},
          {"name", device.name},
          {"key", device.key},
          {"memory_bytes", device.memory_bytes},
          {"in_use_bytes", device.in_use_bytes},
          {"memory_bandwidth", std::round(device.memory_bandwidth)}};
}

Json memory_json(const DeploymentPlan& plan) {
  return {{"budget_bytes", plan.memory.budget},
          {"weight_bytes", plan.memory.weights},
          {"activation_bytes", plan.memory.activations},
          {"graph_bytes", plan.graph_bytes},
          {"runtime_bytes", plan.runtime_bytes},
          {"state_bytes", plan.state_bytes},
          {"kv_bytes", plan.memory.kv},
          {"kv_room_bytes", plan.need.room},
          {"kv_one_sequence_bytes", plan.need.one_sequence}};
}

Json kv_json(const PlanReport& report) {
  const DeploymentPlan& plan = report.plan;
  Json groups = Json::array();
  for (size_t i = 0; i < plan.share.kv.size(); ++i) {
    const auto& group = plan.share.kv[i];
    groups.push_back({{"layers", group.layers.size()},
                      {"kv_heads", group.kv_heads},
                      {"head_dim", group.head_dim},
                      {"window", group.window},
                      {"blocks", i < plan.memory.blocks.size() ? plan.memory.blocks[i] : 0}});
  }
  return {{"dtype", report.kv_type},
          {"block_size", plan.deployment.serving.block_size},
          {"bytes_per_token", plan.kv_bytes_per_token},
          {"bytes_per_sequence", plan.kv_bytes_per_sequence},
          {"groups", std::move(groups)}};
}

Json parallel_json(const DeploymentPlan& plan) {
  const auto& split = plan.deployment.split;
  const auto& cost = plan.parallel_cost;
  return {{"tensor", split.tensor},
          {"pipeline", split.pipeline},
          {"data", split.data},
          {"link", word_of(cost.link)},
          {"link_bytes_per_s", std::round(cost.link_bytes_per_s)},
          {"bytes_per_token", std::round(cost.bytes_per_token)},
          {"decode_loss", rounded(cost.decode_loss)},
          {"prefill_loss", rounded(cost.prefill_loss)},
          {"warning", cost.worth_a_warning()}};
}

Json line_json(const ServeLine& line) {
  return {{"command", line.text}, {"accepted", line.refusal.empty()}, {"refusal", line.refusal}};
}

Json rung_json(const PlanReport& report, const model::Rung& rung) {
  Json json = {{"kind", word_of(rung.kind)},
               {"title", rung.title},
               {"helps", rung.helps},
               {"outcome", rung.outcome},
               {"verdict", word_of(rung.plan.verdict)},
               {"max_model_len", rung.plan.deployment.serving.max_model_len},
               {"sequences", rounded(rung.plan.sequences)},
               {"tensor_parallel", rung.plan.deployment.split.tensor},
               {"device", rung.plan.deployment.device.key},
               {"memory_per_device", memory_json(rung.plan)},
               {"slow_down", rounded(rung.slow_down)}};
  if (rung.helps && !rung.flags.empty()) json["serve"] = line_json(line_of_rung(report, rung));
  return json;
}

}  // namespace

Json plan_report_json(const PlanReport& report) {
  const DeploymentPlan& plan = report.plan;
  const auto& serving = plan.deployment.serving;
  Json json = {{"model", model_json(report)},
               {"device", device_json(plan)},
               {"parallel", parallel_json(plan)},
               {"max_model_len", serving.max_model_len},
               {"max_num_seqs", serving.max_num_seqs},
               {"max_num_batched_tokens", serving.max_num_batched_tokens},
               {"gpu_memory_utilization", serving.utilization},
               {"memory_per_device", memory_json(plan)},
               {"kv", kv_json(report)},
               {"sequences", rounded(plan.sequences)},
               {"longest_model_len", plan.longest_model_len},
               {"least_gpu_memory_utilization", plan.least_utilization},
               {"decode_tokens_per_s",
                {{"one_stream", rounded(plan.speed.one_stream)},
                 {"streams", rounded(plan.speed.streams)},
                 {"all_streams", rounded(plan.speed.all_streams)}}},
               {"remarks", report.target.remarks},
               {"verdict", word_of(plan.verdict)},
               {"serve", line_json(serve_line(report.model.argument, report.flags))},
               {"ladder", Json::array()}};
  for (const model::Rung& rung : report.ladder) json["ladder"].push_back(rung_json(report, rung));
  json["chosen"] = report.chosen ? Json(*report.chosen) : Json(nullptr);
  return json;
}

}  // namespace pagoda::app
