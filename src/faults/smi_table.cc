// The table that `nvidia-smi` prints, of any age: 79 columns up to R530, 89 and 91 later. Read by its bars
// and words, not by columns.
#include <algorithm>

#include "faults/event_reader.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string_view> cells_of(std::string_view line) {
  line = trimmed(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  return split_at(line, "|");
}

std::string_view word_after(std::string_view line, std::string_view label) {
  const size_t at = line.find(label);
  if (at == std::string_view::npos) return {};
  const auto words = words_of(line.substr(at + label.size()));
  return words.empty() || words[0] == "|" ? std::string_view() : words[0];
}

class SmiTable : public SmiSection {
 public:
  SmiTable() { snapshot.kind = "nvidia-smi table"; }

  bool take(std::string_view line, int64_t number) override {
    line = trimmed(line);
    if (line.empty()) return ++blank_lines_ <= 2;
    if (line.front() != '|' && line.front() != '+') return false;
    if (line.front() == '+') return true;
    const bool banner = line.find("NVIDIA-SMI ") != std::string_view::npos;
    if (banner && part_ != Part::kBanner) return false;  // the next table of a series
    if (banner) return take_banner(line);
    return take_row(line, number);
  }

  void finish() override {
    if (!processes_listed_) return;
    for (GpuReadings& gpu : snapshot.gpus) {
      gpu.processes = static_cast<int>(std::count(process_gpus_.begin(), process_gpus_.end(), gpu.index));
    }
  }

 private:
  enum class Part { kBanner, kGpus, kMig, kProcesses };

  bool take_banner(std::string_view line) {
    for (const std::string_view label : {"KMD Version:", "Driver Version:"}) {
      if (snapshot.driver.empty()) snapshot.driver = word_after(line, label);
    }
    for (const std::string_view label : {"CUDA UMD Version:", "CUDA Version:"}) {
      if (snapshot.cuda.empty()) snapshot.cuda = word_after(line, label);
    }
    return true;
  }

  bool take_row(std::string_view line, int64_t number) {
    if (line.starts_with("|=")) {
      if (part_ == Part::kBanner) part_ = Part::kGpus;
      return true;
    }
    const auto cells = cells_of(line);
    const std::string_view first = trimmed(cells[0]);
    if (first.starts_with("MIG devices")) part_ = Part::kMig;
    if (first.starts_with("Processes")) part_ = Part::kProcesses;
    if (part_ == Part::kProcesses) return take_process(first);
    if (part_ == Part::kGpus && cells.size() == 3) take_gpu_row(cells, line, number);
    return true;
  }

  void take_gpu_row(const std::vector<std::string_view>& cells, std::string_view line, int64_t number) {
    const auto words = words_of(cells[0]);
    const auto place = words_of(cells[1]);
    const bool names_gpu = words.size() >= 2 && all_digits(words[0]) && !place.empty() &&
                           place[0].find(':') != std::string_view::npos;
    if (names_gpu) {
      GpuReadings gpu;
      gpu.index = words[0];
      gpu.address = short_address(place[0]);
      const size_t last =
          words.size() > 2 && (words.back() == "On" || words.back() == "Off" || words.back() == "N/A")
              ? words.size() - 1
              : words.size();
      for (size_t i = 1; i < last; ++i) gpu.name += (i > 1 ? " " : "") + std::string(words[i]);
      gpu.line = number;
      gpu.evidence = line;
      gpu.take(Quantity::kEccVolatile, cells[2], number, line);
      snapshot.gpus.push_back(std::move(gpu));
    } else if (!snapshot.gpus.empty() && words.size() >= 3 && !has_values_) {
      take_values(words, cells, line, number);
    }
    has_values_ = !names_gpu;
  }

  // "30%   65C    P0    120W / 320W", "2048MiB / 10240MiB", "45%  Default".
  void take_values(const std::vector<std::string_view>& words, const std::vector<std::string_view>& cells,
                   std::string_view line, int64_t number) {
    GpuReadings& gpu = snapshot.gpus.back();
    gpu.take(Quantity::kTemperature, words[1], number, line);
    gpu.take(Quantity::kPerformanceState, words[2], number, line);
    const auto power = split_at(
        cells[0].substr(static_cast<size_t>(words[2].data() + words[2].size() - cells[0].data())), "/");
    gpu.take(Quantity::kPowerDraw, power[0], number, line);
    if (power.size() > 1) gpu.take(Quantity::kPowerLimit, power[1], number, line);
    const auto memory = split_at(cells[1], "/");
    if (memory.size() > 1) {
      gpu.take(Quantity::kMemoryUsed, memory[0], number, line);
      gpu.take(Quantity::kMemoryTotal, memory[1], number, line);
    }
    const auto load = words_of(cells[2]);
    if (!load.empty()) gpu.take(Quantity::kGpuUtilization, load[0], number, line);
  }

  bool take_process(std::string_view row) {
    const auto words = words_of(row);
    if (row.starts_with("No running processes")) processes_listed_ = true;
    if (words.size() >= 4 && all_digits(words[0])) {
      processes_listed_ = true;
      if (process_gpus_.size() < 65536) process_gpus_.emplace_back(words[0]);
    }
    return true;
  }

  Part part_ = Part::kBanner;
  int blank_lines_ = 0;
  bool has_values_ = true;
  bool processes_listed_ = false;
  std::vector<std::string> process_gpus_;
};

}  // namespace

std::unique_ptr<SmiSection> begin_smi_table(std::string_view line, int64_t number) {
  line = trimmed(line);
  const bool banner = line.starts_with('|') && line.find("NVIDIA-SMI ") != std::string_view::npos &&
                      line.find("Version:") != std::string_view::npos;
  if (!banner && !line.starts_with("| GPU  Name")) return nullptr;
  auto table = std::make_unique<SmiTable>();
  table->take(line, number);
  return table;
}

}  // namespace pagoda::faults
