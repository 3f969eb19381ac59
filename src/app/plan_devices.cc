#include "app/plan_devices.h"

#include <algorithm>
#include <cctype>

#include "app/machine_rates.h"
#include "app/nearest.h"
#include "base/format.h"
#include "driver/board_rates.h"
#include "driver/gpu_snapshot_reader.h"
#include "tensor/device.h"

namespace pagoda::app {
namespace {

constexpr int kMostGpus = 4096;

model::DeviceFacts facts_of(const driver::BoardRates& rates, const PlanOptions& options) {
  const driver::Board& board = *driver::find_board(rates.device);
  model::DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  facts.name = board.name;
  facts.key = rates.key;
  facts.memory_bytes = int64_t{rates.memory_mib} << 20;
  facts.memory_bandwidth = board.bandwidth_gb_s * 1e9;
  facts.flops_16 = rates.tflops_16 * 1e12;
  facts.flops_8 = rates.tflops_8 * 1e12;
  facts.nvlink = rates.nvlink_group > 0 ? board.nvlink_gb_s / 2.0 * 1e9 : 0;
  facts.nvlink_group = rates.nvlink_group;
  facts.pcie = driver::pcie_bytes_per_s(rates.pcie_generation);
  facts.network = options.network_gbit / 8 * 1e9;
  facts.per_node = options.gpus_per_node;
  return facts;
}

// "x8", "×8"; 0: no count.
int count_of(std::string_view word) {
  if (word.starts_with("×")) {
    word.remove_prefix(std::string_view("×").size());
  } else if (word.starts_with('x') || word.starts_with('X') || word.starts_with('*')) {
    word.remove_prefix(1);
  } else {
    return 0;
  }
  if (word.empty() || word.size() > 4) return 0;
  int count = 0;
  for (char c : word) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return 0;
    count = 10 * count + (c - '0');
  }
  return count;
}

struct CardWords {
  std::string name;
  int count = 1;
};

// "h100-80gb x8", also as one word with spaces; "h100-80gb:8".
Result<CardWords> card_words(const std::vector<std::string>& words) {
  CardWords card;
  for (const std::string& given : words) {
    std::string rest = given;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find_first_of(" :"), rest.size());
      std::string word = rest.substr(0, end);
      const bool after_colon = end < rest.size() && rest[end] == ':';
      rest.erase(0, std::min(end + 1, rest.size()));
      if (after_colon) rest = "x" + rest;
      if (const int count = count_of(word); count > 0) {
        card.count = count;
      } else if (!word.empty()) {
        card.name += (card.name.empty() ? "" : " ") + word;
      }
    }
  }
  if (card.name.empty())
    return fail(ErrorCode::kInvalidArgument, "--gpu: a count without a card; give a name such as h100-80gb",
                "gpu");
  if (card.count > kMostGpus)
    return fail(ErrorCode::kInvalidArgument,
                format("--gpu: {} cards are more than {}", card.count, kMostGpus), "gpu");
  return card;
}

Error unknown_card(const std::string& name) {
  std::vector<std::string_view> keys;
  for (const auto& rates : driver::board_rates()) keys.push_back(rates.key);
  if (const auto close = nearest(name, keys))
    return {ErrorCode::kInvalidArgument, format("--gpu: no card '{}'; did you mean {}?", name, *close),
            "gpu"};
  std::string all;
  for (std::string_view key : keys) all += format("{}{}", all.empty() ? "" : ", ", key);
  return {ErrorCode::kInvalidArgument, format("--gpu: no card '{}'; known are {}", name, all), "gpu"};
}

void remark_bridge(PlanTarget& target) {
  if (target.device.nvlink_group == 2 && target.count > 1)
    target.remarks.push_back(
        format("two {} are taken to be joined by an NVLink bridge; without one they talk over PCIe",
               target.device.name));
}

// The machine's GPUs of the first one's kind, with what is in use now.
std::optional<PlanTarget> gpus_of_machine(const PlanOptions& options) {
  const auto nvml = driver::Nvml::open();
  if (!nvml || nvml->gpus().empty()) return std::nullopt;
  const auto machine =
      driver::read_machine(*nvml, driver::kIdentitySection | driver::kMemorySection | driver::kPciSection);
  PlanTarget target;
  target.this_machine = true;
  target.count = 0;
  std::string name;
  for (const auto& gpu : machine.gpus) {
    if (!gpu.identity.name || !gpu.memory.total) continue;
    if (target.count == 0) {
      name = *gpu.identity.name;
      const auto* rates = driver::find_board_rates(name);
      if (rates != nullptr) target.device = facts_of(*rates, options);
      target.device.kind = DeviceKind::kCuda;
      target.device.name = name;
      target.device.memory_bytes = static_cast<int64_t>(*gpu.memory.total);
      if (rates == nullptr)
        target.remarks.push_back(format("{} is not in the table of cards: speeds are unknown", name));
    }
    if (*gpu.identity.name != name) {
      target.remarks.push_back(
          format("GPU {} is another card ({}) and left out", gpu.index, *gpu.identity.name));
      continue;
    }
    // The fullest decides: each rank takes the same share.
    if (gpu.memory.free)
      target.device.in_use_bytes = std::max(
          target.device.in_use_bytes, target.device.memory_bytes - static_cast<int64_t>(*gpu.memory.free));
    ++target.count;
  }
  if (target.count == 0) return std::nullopt;
  remark_bridge(target);
  return target;
}

}  // namespace

model::DeviceFacts cpu_facts() {
  const Device cpu = cpu_device();
  model::DeviceFacts facts;
  facts.kind = DeviceKind::kCpu;
  facts.name = cpu.name;
  facts.memory_bytes = cpu.capacity_bytes;
  facts.memory_bandwidth = memory_read_rate();
  return facts;
}

std::vector<model::DeviceFacts> known_cards(const PlanOptions& options) {
  std::vector<model::DeviceFacts> cards;
  for (const auto& rates : driver::board_rates()) cards.push_back(facts_of(rates, options));
  return cards;
}

Result<PlanTarget> find_plan_target(const PlanOptions& options) {
  const bool this_machine = options.gpu.empty() || options.gpu == std::vector<std::string>{"this"} ||
                            options.gpu == std::vector<std::string>{"this", "machine"};
  const bool cpu = options.gpu == std::vector<std::string>{"cpu"};
  if (this_machine) {
    if (auto target = gpus_of_machine(options)) return *target;
  }
  if (this_machine || cpu) {
    PlanTarget target;
    target.device = cpu_facts();
    target.this_machine = true;
    return target;
  }
  PAGODA_ASSIGN(const CardWords card, card_words(options.gpu));
  const driver::BoardRates* rates = driver::find_board_rates(card.name);
  if (rates == nullptr) return Unexpected(unknown_card(card.name));
  PlanTarget target;
  target.device = facts_of(*rates, options);
  target.count = card.count;
  remark_bridge(target);
  return target;
}

}  // namespace pagoda::app
