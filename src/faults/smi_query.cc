// What `nvidia-smi -q` prints: "Key : value", nested by indentation, whatever the colon's column.
#include "faults/event_reader.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

// "GPU 00000000:3B:00.0", alone on its line.
std::string address_of_heading(std::string_view line) {
  if (!line.starts_with("GPU ")) return {};
  const std::string_view address = trimmed(line.substr(4));
  const bool fits = address.size() >= 12 && address.size() <= 16 &&
                    address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos &&
                    address.find(':') != std::string_view::npos;
  return fits ? short_address(address) : std::string();
}

class SmiQuery : public SmiSection {
 public:
  SmiQuery() { snapshot.kind = "nvidia-smi -q"; }

  bool take(std::string_view line, int64_t number) override {
    const std::string_view text = trimmed(line);
    if (text.empty()) return true;
    const size_t indent = line.find_first_not_of(' ');
    if (indent == 0) return take_heading(text, number);
    if (snapshot.gpus.empty()) return false;
    const size_t colon = text.find(" : ");
    const std::string_view key = trimmed(text.substr(0, colon));
    while (!path_.empty() && path_.back().indent >= indent) path_.pop_back();
    if (path_.size() < kDeepest) path_.push_back({indent, std::string(key)});
    if (key == "Processes" || key == "Process ID") count_process(key);
    if (colon != std::string_view::npos) take_value(trimmed(text.substr(colon + 3)), line, number);
    return true;
  }

 private:
  static constexpr size_t kDeepest = 12;

  bool take_heading(std::string_view text, int64_t number) {
    const std::string address = address_of_heading(text);
    if (!address.empty()) {
      path_.clear();
      GpuReadings gpu;
      gpu.address = address;
      gpu.line = number;
      gpu.evidence = text;
      snapshot.gpus.push_back(std::move(gpu));
      return true;
    }
    const size_t colon = text.find(" : ");
    if (text.find("NVSMI LOG") != std::string_view::npos) return snapshot.gpus.empty() && ++logs_ == 1;
    if (colon == std::string_view::npos || !snapshot.gpus.empty()) return false;
    const std::string_view key = trimmed(text.substr(0, colon)), value = trimmed(text.substr(colon + 3));
    if (key == "Driver Version" || key == "KMD Version") snapshot.driver = value;
    if (key == "CUDA Version" || key == "CUDA UMD Version") snapshot.cuda = value;
    if (key == "Timestamp") snapshot.take_time(value);
    return true;
  }

  void count_process(std::string_view key) {
    auto& processes = snapshot.gpus.back().processes;
    processes = processes.value_or(0) + (key == "Process ID" ? 1 : 0);
  }

  void take_value(std::string_view value, std::string_view line, int64_t number) {
    std::string path;
    for (const Level& level : path_) path += (path.empty() ? "" : "/") + level.key;
    GpuReadings& gpu = snapshot.gpus.back();
    if (path == "Product Name") gpu.name = value;
    if (path == "GPU UUID") gpu.uuid = value;
    if (path.starts_with("MIG Device")) return;
    for (const QuantityRow& row : quantity_rows()) {
      const std::string_view query = row.query;
      if (query.empty() || !std::string_view(path).ends_with(query)) continue;
      const size_t before = path.size() - query.size();
      const bool whole = before == 0 || path[before - 1] == '/' || query.starts_with("Reasons/");
      if (!whole) continue;
      gpu.take(row, value, number, line);
      return;
    }
    ++gpu.asked;
    if (value.find("Unknown Error") != std::string_view::npos ||
        value.find("GPU is lost") != std::string_view::npos)
      ++gpu.failures;
  }

  struct Level {
    size_t indent;
    std::string key;
  };
  std::vector<Level> path_;
  int logs_ = 0;
};

}  // namespace

std::unique_ptr<SmiSection> begin_smi_query(std::string_view line, int64_t number) {
  const std::string_view text = trimmed(line);
  const bool begins = text.starts_with("==") && text.find("NVSMI LOG") != std::string_view::npos;
  if (!begins && address_of_heading(line).empty()) return nullptr;
  auto query = std::make_unique<SmiQuery>();
  query->take(begins ? text : line, number);
  return query;
}

}  // namespace pagoda::faults
