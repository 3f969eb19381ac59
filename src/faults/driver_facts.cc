#include "faults/driver_facts.h"

#include <charconv>

#include "base/format.h"
#include "driver/chips.h"
#include "driver/cuda_releases.h"
#include "driver/stack_findings.h"

namespace pagoda::faults {
namespace {

// "Tesla V100-SXM2-32GB" → "V100": what people call it.
std::string_view everyday_name(std::string_view board) {
  constexpr std::string_view kTesla = "Tesla ";
  if (board.starts_with(kTesla)) board.remove_prefix(kTesla.size());
  return board.substr(0, board.find('-'));
}

}  // namespace

std::optional<std::string_view> least_driver_of_cuda(std::string_view cuda) {
  const auto wanted = driver::VersionNumber::parse(cuda);
  if (!wanted) return std::nullopt;
  std::optional<std::string_view> least;
  for (const driver::CudaRelease& release : driver::cuda_releases()) {
    const auto known = *driver::VersionNumber::parse(release.cuda);
    if (known.major() == wanted->major() && (known <= *wanted || !least)) least = release.least_driver;
  }
  return least;
}

std::string name_of_device(uint16_t device_id) {
  const driver::Chip* chip = driver::chip_of_device(device_id);
  if (chip == nullptr) return format("the GPU 10de:{:04x}", device_id);
  if (const driver::Board* board = driver::find_board(device_id))
    return format("{} ({})", everyday_name(board->name), chip->architecture);
  const bool vowel = chip->architecture.starts_with('A');
  return format("{} {} GPU (10de:{:04x})", vowel ? "an" : "a", chip->architecture, device_id);
}

std::string last_branch_of_device(uint16_t device_id) {
  const driver::Chip* chip = driver::chip_of_device(device_id);
  return chip == nullptr || chip->last_branch == 0 ? std::string() : std::to_string(chip->last_branch);
}

std::optional<std::string> least_cuda_of_capability(std::string_view capability) {
  constexpr std::string_view kPrefix = "sm_";
  if (!capability.starts_with(kPrefix)) return std::nullopt;
  capability.remove_prefix(kPrefix.size());
  int number = 0;
  const auto parsed = std::from_chars(capability.data(), capability.data() + capability.size(), number);
  if (parsed.ec != std::errc() || number <= 0) return std::nullopt;
  const auto limits = driver::cuda_of_capability(number / 10, number % 10);
  return limits ? std::optional(limits->least.text()) : std::nullopt;
}

}  // namespace pagoda::faults
