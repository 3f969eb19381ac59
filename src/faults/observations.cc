#include "faults/observations.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "faults/load_words.h"

namespace pagoda::faults {
namespace {

using enum Quantity;

std::string state_in_words(const GpuRecord& gpu) {
  std::vector<std::string> parts;
  const auto& last = gpu.last;
  const std::string load = load_in_words(gpu);
  if (!load.empty()) parts.push_back(load);
  const auto reasons = static_cast<uint64_t>(std::max(0.0, last[kClockReasons].value.value_or(0)));
  if (reasons & 0x4) parts.push_back("at its power cap as designed (0x4)");
  if (last[kPerformanceState].value) parts.push_back(format("P{:.0f}", *last[kPerformanceState].value));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

struct Range {
  double least = INFINITY, most = -INFINITY;
  void add(const std::optional<double>& value) {
    if (!value) return;
    least = std::min(least, *value);
    most = std::max(most, *value);
  }
  std::string in(std::string_view unit) const {
    if (least > most) return {};
    return std::round(least) == std::round(most) ? format("{:.0f} {}", most, unit)
                                                 : format("{:.0f}–{:.0f} {}", least, most, unit);
  }
};

struct ProfileWord {
  Quantity quantity;
  std::string_view name;
};
constexpr ProfileWord kProfile[] = {
    {kSmActivity, "SM"}, {kTensorActivity, "tensor"}, {kDramActivity, "memory bandwidth"}};

std::string numbers_in_words(const std::vector<const GpuRecord*>& gpus) {
  Range temperature, power, limit, used, total, load;
  int64_t samples = 0;
  for (const GpuRecord* gpu : gpus) {
    temperature.add(gpu->last[kTemperature].value);
    power.add(gpu->last[kPowerDraw].value);
    limit.add(gpu->last[kPowerLimit].value);
    used.add(gpu->last[kMemoryUsed].value);
    total.add(gpu->last[kMemoryTotal].value);
    if (gpu->samples() > 0) load.add((*gpu)[kGpuUtilization].mean());
    samples = std::max(samples, gpu->samples());
  }
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  const std::string most_power = limit.in("W"), most_memory = total.in("MiB");
  add(temperature.in("°C"));
  if (!power.in("W").empty())
    add(most_power.empty() ? power.in("W") : format("{} of {}", power.in("W"), most_power));
  if (!used.in("MiB").empty())
    add(most_memory.empty() ? used.in("MiB") : format("{} of {}", used.in("MiB"), most_memory));
  for (const auto& [quantity, name] : kProfile) {
    Range range;
    for (const GpuRecord* gpu : gpus) {
      if ((*gpu)[quantity].count > 0) range.add((*gpu)[quantity].mean());
    }
    if (const std::string percent = range.in("%"); !percent.empty()) add(format("{} {}", name, percent));
  }
  if (!load.in("%").empty())
    add(load.in("%") +
        (samples > 1 ? format(" busy (mean of {} readings)", samples) : " busy (one reading)"));
  return text;
}

std::string subject_of(const std::vector<const GpuRecord*>& gpus, const std::string& name) {
  std::vector<std::string> labels;
  for (const GpuRecord* gpu : gpus) labels.push_back(gpu->index.empty() ? gpu->address : gpu->index);
  std::string text = labels.size() == 1 ? "GPU " + labels[0] : format("{} GPUs (", labels.size());
  if (labels.size() > 1) {
    constexpr size_t kNamed = 8;
    for (size_t i = 0; i < std::min(kNamed, labels.size()); ++i) text += (i > 0 ? ", " : "") + labels[i];
    text += labels.size() > kNamed ? ", …)" : ")";
  }
  return name.empty() ? text : text + ": " + name;
}

bool is_in_a_story(const GpuRecord& gpu, const std::vector<Story>& stories) {
  return std::any_of(stories.begin(), stories.end(), [&](const Story& story) {
    if (story.severity < Severity::kWarning) return false;
    return std::any_of(story.findings.begin(), story.findings.end(), [&](const Finding& f) {
      const std::string_view label = f.fields.get("gpu");
      return !label.empty() && (label == gpu.address || label == gpu.index);
    });
  });
}

}  // namespace

std::vector<Observation> observe(const MachineRecord& machine, const std::vector<Story>& stories) {
  std::map<std::string, std::vector<const GpuRecord*>> alike;
  for (const GpuRecord* gpu : machine.gpus()) {
    const bool healthy = !is_in_a_story(*gpu, stories);
    alike[gpu->name + '\n' + state_in_words(*gpu) + (healthy ? "\nhealthy" : "\n")].push_back(gpu);
  }
  std::vector<Observation> observations;
  for (const auto& [key, gpus] : alike) {
    const bool healthy = key.ends_with("\nhealthy");
    const std::string state = state_in_words(*gpus.front()), numbers = numbers_in_words(gpus);
    if (state.empty() && numbers.empty()) continue;
    std::string text = state;
    if (!numbers.empty()) text += (text.empty() ? "" : "; ") + numbers;
    observations.push_back(
        {Step::kLoad, subject_of(gpus, gpus.front()->name), text + (healthy ? ": healthy" : "")});
  }
  return observations;
}

}  // namespace pagoda::faults
