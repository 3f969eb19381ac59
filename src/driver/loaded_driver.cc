#include "driver/loaded_driver.h"

#include <charconv>

#include "base/format.h"

namespace pagoda::driver {
namespace {

// "Device Minor: \t 0" → the value behind the label.
std::string labelled(std::string_view text, std::string_view label) {
  const size_t at = text.find(label);
  if (at == std::string_view::npos) return "";
  const size_t start = text.find_first_not_of(" \t", at + label.size());
  if (start == std::string_view::npos) return "";
  const size_t end = std::min(text.find('\n', start), text.size());
  std::string_view value = text.substr(start, end - start);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return std::string(value);
}

LoadedGpu read_gpu(const HostRoot& root, const std::string& address) {
  const std::string text = root.read(format("/proc/driver/nvidia/gpus/{}/information", address)).value_or("");
  LoadedGpu gpu;
  gpu.address = address;
  gpu.model = labelled(text, "Model:");
  gpu.uuid = labelled(text, "GPU UUID:");
  const std::string minor = labelled(text, "Device Minor:");
  int value = 0;
  if (std::from_chars(minor.data(), minor.data() + minor.size(), value).ec == std::errc{}) gpu.minor = value;
  return gpu;
}

}  // namespace

std::optional<LoadedDriver> read_loaded_driver(const HostRoot& root) {
  const auto text = root.read("/proc/driver/nvidia/version");
  if (!text) return std::nullopt;
  const std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
  LoadedDriver driver;
  // "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (…)"
  if (auto version = VersionNumber::find_in(line)) driver.version = *version;
  driver.kind = module_kind(line);
  for (const auto& address : root.list("/proc/driver/nvidia/gpus"))
    driver.gpus.push_back(read_gpu(root, address));
  return driver;
}

}  // namespace pagoda::driver
