#include "model/fallback_ladder.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::model {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kNarrowBits = 6;  // fewer bits per weight than these: 4-bit weights gain little
constexpr int kMostRanks = 16;

// What is missing or spare, in words.
std::string outcome_of(const DeploymentPlan& plan) {
  switch (plan.verdict) {
    case Verdict::kFits:
      return format("fits: weights {}, KV {}, {:.1f} sequences of {} tokens at once",
                    bytes_text(plan.memory.weights), bytes_text(plan.memory.kv), plan.sequences,
                    plan.deployment.serving.max_model_len);
    case Verdict::kFitsFewer:
      return format("{:.1f} of {} sequences at once", plan.sequences, plan.deployment.serving.max_num_seqs);
    case Verdict::kInUse:
      return format("others hold {} of the device's {}", bytes_text(plan.deployment.device.in_use_bytes),
                    bytes_text(plan.deployment.device.memory_bytes));
    case Verdict::kDoesNotFit:
      return format("{} are still missing", bytes_text(plan.need.missing()));
  }
  return {};
}

Rung rung_of(RungKind kind, std::string title, Deployment changed,
             std::vector<std::pair<std::string, std::string>> flags) {
  Rung rung{.kind = kind, .title = std::move(title), .helps = false, .outcome = "", .flags = {}, .plan = {}};
  auto plan = plan_deployment(std::move(changed));
  if (!plan) {
    rung.outcome = plan.error().message;
    return rung;
  }
  rung.plan = *std::move(plan);
  rung.helps = rung.plan.fits();
  rung.outcome = outcome_of(rung.plan);
  rung.flags = std::move(flags);
  return rung;
}

std::string_view four_bit_scheme(const Deployment& d) {
  return d.device.kind == DeviceKind::kCpu ? "int4" : "awq";
}

void make_four_bit(Deployment& d) {
  d.scheme = *find_weight_scheme(four_bit_scheme(d));
  d.weight_bytes.reset();
}

Rung four_bit(const DeploymentPlan& asked) {
  Deployment d = asked.deployment;
  const std::string title =
      d.device.kind == DeviceKind::kCpu ? "4-bit weights, made at load" : "4-bit weights (AWQ or GPTQ)";
  if (d.scheme.linear_bits < kNarrowBits) {
    Rung rung = rung_of(RungKind::kFourBit, title, d, {});
    rung.helps = false;
    rung.outcome = format("the weights have {:.1f} bits already", d.scheme.linear_bits);
    return rung;
  }
  make_four_bit(d);
  const std::string scheme(four_bit_scheme(d));
  return rung_of(RungKind::kFourBit, title, std::move(d), {{"quantization", scheme}});
}

// The longest context that fits, and holds as many sequences as were asked for.
int longest_for_wanted(const Deployment& d) {
  int fits = 0, too_long = d.serving.max_model_len / d.serving.block_size + 1;
  while (fits + 1 < too_long) {
    const int middle = fits + (too_long - fits) / 2;
    Deployment shorter = d;
    shorter.serving.max_model_len = middle * d.serving.block_size;
    const auto plan = plan_deployment(std::move(shorter));
    (plan && plan->verdict == Verdict::kFits ? fits : too_long) = middle;
  }
  return fits * d.serving.block_size;
}

Rung shorter(const Deployment& asked, RungKind kind, std::string title,
             std::vector<std::pair<std::string, std::string>> flags) {
  Deployment d = asked;
  const int longest = longest_for_wanted(d);
  d.serving.max_model_len = longest > 0 ? longest : d.serving.block_size;
  flags.emplace_back("max-model-len", std::to_string(d.serving.max_model_len));
  Rung rung = rung_of(kind, std::move(title), std::move(d), std::move(flags));
  if (longest == 0) rung.outcome = "no length fits: " + rung.outcome;
  return rung;
}

// KV of the wanted sequences that the pool does not hold, at full length.
double swap_gib_for(const DeploymentPlan& plan) {
  const double missing = plan.deployment.serving.max_num_seqs - plan.memory.sequences;
  return std::max(1.0, std::ceil(missing * static_cast<double>(plan.need.one_sequence) / kGiB));
}

Rung swap(const DeploymentPlan& asked, const LadderFacts& facts) {
  Deployment d = asked.deployment;
  const double free_share =
      static_cast<double>(d.device.free_bytes()) / static_cast<double>(d.device.memory_bytes);
  if (asked.verdict == Verdict::kInUse) d.serving.utilization = std::floor(free_share * 100) / 100;
  const std::string utilization = format("{:.2f}", d.serving.utilization);
  d.sequences_wanted = false;  // the rest waits in swap space
  Rung rung =
      rung_of(RungKind::kSwap,
              asked.verdict == Verdict::kFitsFewer ? "--swap-space for the sequences that wait"
                                                   : "a lower --gpu-memory-utilization with --swap-space",
              d, {});
  if (!rung.helps) {
    rung.outcome = "does not help: a sequence that computes is not in swap space, and " + rung.outcome;
    if (asked.least_utilization > d.serving.utilization)
      rung.outcome += format("; --gpu-memory-utilization {:.2f} would do", asked.least_utilization);
    return rung;
  }
  rung.plan.deployment.swap_gib = swap_gib_for(rung.plan);
  const auto swap_bytes = static_cast<int64_t>(rung.plan.deployment.swap_gib * kGiB);
  if (d.device.kind == DeviceKind::kCpu && rung.plan.taken_bytes() + swap_bytes > d.device.free_bytes()) {
    rung.helps = false;
    rung.outcome =
        format("does not help: a CPU's swap space lies in the same memory, and {} more are not there",
               bytes_text(rung.plan.taken_bytes() + swap_bytes - d.device.free_bytes()));
    return rung;
  }
  if (asked.verdict == Verdict::kInUse) rung.flags.emplace_back("gpu-memory-utilization", utilization);
  rung.flags.emplace_back("swap-space", format("{:.0f}", rung.plan.deployment.swap_gib));
  const int wanted = d.serving.max_num_seqs;
  rung.outcome = format("{:.1f} of {} sequences of {} tokens at once, {:.0f} GiB of swap space for the rest",
                        rung.plan.sequences, wanted, d.serving.max_model_len, rung.plan.deployment.swap_gib);
  if (facts.rates_known) {
    rung.slow_down = forecast_swap(typical_swap_load(rung.plan), facts.rates).slow_down();
    rung.outcome += format(": about {:.2f} times as long as with room for all", rung.slow_down);
  }
  return rung;
}

Rung more_devices(const DeploymentPlan& asked) {
  std::optional<Rung> nearest;
  const int now = asked.deployment.split.tensor;
  for (int ranks = 2; ranks <= kMostRanks; ranks *= 2) {
    if (ranks <= now) continue;
    Deployment d = asked.deployment;
    d.split.tensor = ranks;
    if (!check_split(d.facts, d.split)) continue;
    nearest = rung_of(RungKind::kMoreDevices, format("tensor parallelism over {}", ranks), std::move(d),
                      {{"tensor-parallel-size", std::to_string(ranks)}});
    if (nearest->helps) break;
  }
  if (nearest) {
    if (nearest->helps && nearest->plan.parallel_cost.worth_a_warning())
      nearest->outcome += format(", over {}", name_of(nearest->plan.parallel_cost.link));
    return *nearest;
  }
  Rung none{.kind = RungKind::kMoreDevices,
            .title = "tensor parallelism over more devices",
            .helps = false,
            .outcome = format("the model's {} heads divide no further", asked.deployment.facts.heads),
            .flags = {},
            .plan = asked};
  return none;
}

// The card of least memory, then least bandwidth, that does it alone.
Rung smallest_card(const DeploymentPlan& asked, std::span<const DeviceFacts> cards) {
  std::vector<const DeviceFacts*> by_size;
  for (const DeviceFacts& card : cards) by_size.push_back(&card);
  std::stable_sort(by_size.begin(), by_size.end(), [](const DeviceFacts* a, const DeviceFacts* b) {
    return std::pair(a->memory_bytes, a->memory_bandwidth) < std::pair(b->memory_bytes, b->memory_bandwidth);
  });
  for (const DeviceFacts* card : by_size) {
    Deployment d = asked.deployment;
    d.device = *card;
    d.split = {};
    Rung rung = rung_of(RungKind::kOtherCard, format("one {}", card->name), std::move(d), {});
    if (rung.helps) return rung;
  }
  Rung none{.kind = RungKind::kOtherCard,
            .title = "a bigger card",
            .helps = false,
            .outcome = "no single card holds it",
            .flags = {},
            .plan = asked};
  return none;
}

}  // namespace

std::vector<Rung> fallback_ladder(const DeploymentPlan& asked, const LadderFacts& facts) {
  std::vector<Rung> rungs;
  rungs.push_back(four_bit(asked));
  const Rung& narrow = rungs.front();
  Rung short_one = shorter(asked.deployment, RungKind::kShorter, "a shorter --max-model-len", {});
  Rung swapping = swap(asked, facts);
  const bool together = !narrow.helps && !short_one.helps && !narrow.flags.empty();
  const Deployment narrowed = narrow.plan.deployment;
  const auto narrow_flags = narrow.flags;
  rungs.push_back(std::move(short_one));
  rungs.push_back(std::move(swapping));
  if (together) {
    Rung both = shorter(narrowed, RungKind::kFourBitShorter, "4-bit weights and a shorter --max-model-len",
                        narrow_flags);
    if (both.helps) rungs.push_back(std::move(both));
  }
  if (asked.deployment.device.kind == DeviceKind::kCuda) rungs.push_back(more_devices(asked));
  rungs.push_back(smallest_card(asked, facts.cards));
  return rungs;
}

SwapLoad typical_swap_load(const DeploymentPlan& plan) {
  const ServingShape& serving = plan.deployment.serving;
  SwapLoad load;
  load.sequences = load.max_num_seqs = serving.max_num_seqs;
  load.prompt = std::max(1, serving.max_model_len / 2);
  load.answer = std::max(1, serving.max_model_len - load.prompt);
  load.block_size = serving.block_size;
  const int64_t of_one = (serving.max_model_len + serving.block_size - 1) / serving.block_size;
  load.blocks = static_cast<int64_t>(plan.memory.sequences * static_cast<double>(of_one));
  load.swap_blocks = static_cast<int64_t>(plan.deployment.swap_gib * kGiB /
                                          static_cast<double>(std::max<int64_t>(1, plan.need.one_sequence)) *
                                          static_cast<double>(of_one));
  load.step_tokens = serving.max_num_batched_tokens;
  return load;
}

StepRates rates_of(const DeploymentPlan& plan) {
  const Deployment& d = plan.deployment;
  StepRates rates;
  if (d.device.memory_bandwidth <= 0 || d.device.flops_16 <= 0) return rates;
  constexpr double kReached = 0.6;  // of the data sheet's rate, by large steps
  const double ranks = d.split.tensor;
  rates.step = static_cast<double>(plan.memory.weights) / d.device.memory_bandwidth +
               plan.parallel_cost.seconds_per_token;
  rates.row = 2.0 * static_cast<double>(plan.parameters_used) / (ranks * d.device.flops_16 * kReached);
  rates.kv_token = static_cast<double>(plan.kv_bytes_per_token) / d.device.memory_bandwidth;
  if (d.device.pcie > 0)
    rates.swap_block = static_cast<double>(plan.kv_bytes_per_token) * d.serving.block_size / d.device.pcie;
  return rates;
}

}  // namespace pagoda::model
