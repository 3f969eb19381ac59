// What `nvidia-smi -L` prints, and `nvidia-smi nvlink -s`, which puts each GPU's links under its line.
#include <algorithm>

#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-…)".
bool read_gpu(std::string_view line, GpuReadings& gpu) {
  line = trimmed(line);
  const size_t colon = line.find(": "), open = line.rfind(" (UUID: GPU-");
  if (!line.starts_with("GPU ") || colon == std::string_view::npos || open == std::string_view::npos ||
      open < colon + 2 || !line.ends_with(')'))
    return false;
  gpu.index = trimmed(line.substr(4, colon - 4));
  if (gpu.index.empty() || gpu.index.find_first_not_of("0123456789") != std::string::npos) return false;
  gpu.name = line.substr(colon + 2, open - colon - 2);
  gpu.uuid = line.substr(open + 8, line.size() - open - 9);
  return true;
}

class SmiList : public SmiSection {
 public:
  SmiList() { snapshot.kind = "nvidia-smi -L"; }

  bool take(std::string_view line, int64_t number) override {
    const std::string_view text = trimmed(line);
    GpuReadings gpu;
    if (read_gpu(line, gpu)) {
      gpu.line = number;
      gpu.evidence = text;
      snapshot.gpus.push_back(std::move(gpu));
      return snapshot.gpus.size() <= kMostGpus;
    }
    if (text.starts_with("MIG ")) return true;
    if (!text.starts_with("Link ")) return false;
    return take_link(text, number);
  }

 private:
  static constexpr size_t kMostGpus = 256, kMostLinks = 64;

  bool take_link(std::string_view text, int64_t number) {
    snapshot.kind = "nvidia-smi nvlink -s";
    auto& links = snapshot.gpus.back().links;
    const size_t colon = text.find(": ");
    if (colon == std::string_view::npos || links.size() >= kMostLinks) return false;
    const bool inactive = text.find("inactive") != std::string_view::npos;
    links.push_back({std::string(text.substr(5, colon - 5)), !inactive, number, std::string(text)});
    return true;
  }
};

}  // namespace

std::unique_ptr<SmiSection> begin_smi_list(std::string_view line, int64_t number) {
  GpuReadings gpu;
  if (!read_gpu(line, gpu)) return nullptr;
  auto list = std::make_unique<SmiList>();
  list->take(line, number);
  return list;
}

}  // namespace pagoda::faults
