// What `nvidia-smi --query-gpu=… --format=csv` prints, and --query-compute-apps: a header that names the
// fields, then a row for each GPU or process, again and again under -l. Without its header a row says
// nothing.
#include <algorithm>
#include <array>

#include "faults/event_reader.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

constexpr size_t kMostFields = 400;
constexpr size_t kMostUnnamedRows = 64;  // rows that name no GPU are taken for one GPU each, up to here

// "power.draw [W]" → "power.draw".
std::string_view field_name(std::string_view heading) {
  heading = trimmed(heading);
  return trimmed(heading.substr(0, heading.find('[')));
}

bool is_field_name(std::string_view name) {
  return !name.empty() && name.size() < 80 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._") ==
             std::string_view::npos;
}

bool is_known(std::string_view name) {
  constexpr std::array<std::string_view, 8> kNames = {"index",      "name",  "gpu_name", "uuid",
                                                      "pci.bus_id", "count", "pid",      "gpu_uuid"};
  const auto rows = quantity_rows();
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(rows.begin(), rows.end(), [&](const QuantityRow& r) { return r.csv == name; });
}

class SmiCsv : public SmiSection {
 public:
  explicit SmiCsv(std::vector<std::string> fields) : fields_(std::move(fields)) {
    processes_ = std::find(fields_.begin(), fields_.end(), "pid") != fields_.end();
    snapshot.kind = processes_ ? "nvidia-smi process list (CSV)" : "nvidia-smi --query-gpu (CSV)";
  }

  bool take(std::string_view line, int64_t number) override {
    if (trimmed(line).empty()) return false;
    const auto values = split_at(line, ", ");
    if (values.size() != fields_.size()) return false;
    if (field_name(values[0]) == fields_[0]) return rows_ == 0 || field_name(values.back()) != fields_.back();
    ++rows_;
    if (!processes_) take_gpu(values, line, number);
    return true;
  }

  bool is_series() const override { return true; }

 private:
  void take_gpu(const std::vector<std::string_view>& values, std::string_view line, int64_t number) {
    GpuReadings gpu;
    gpu.line = number;
    gpu.evidence = line;
    for (size_t i = 0; i < fields_.size(); ++i) take_field(gpu, fields_[i], trimmed(values[i]));
    if (gpu.label() == "?" && rows_ <= kMostUnnamedRows) gpu.index = std::to_string(rows_ - 1);
    for (const QuantityRow& row : quantity_rows()) {
      const auto at = std::find(fields_.begin(), fields_.end(), row.csv);
      if (!row.csv.empty() && at != fields_.end())
        gpu.take(row, values[static_cast<size_t>(at - fields_.begin())], number, line);
    }
    snapshot.gpus.push_back(std::move(gpu));
  }

  void take_field(GpuReadings& gpu, std::string_view field, std::string_view value) {
    if (field == "index") gpu.index = value;
    if (field == "name" || field == "gpu_name") gpu.name = value;
    if (field == "uuid" || field == "gpu_uuid") gpu.uuid = value;
    if (field == "pci.bus_id" || field == "gpu_bus_id") gpu.address = short_address(value);
    if (field == "driver_version") snapshot.driver = value;
    if (field == "timestamp") snapshot.take_time(value);
  }

  std::vector<std::string> fields_;
  bool processes_ = false;
  size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<SmiSection> begin_smi_csv(std::string_view line, int64_t) {
  const auto headings = split_at(trimmed(line), ", ");
  if (headings.size() > kMostFields) return nullptr;
  std::vector<std::string> fields;
  bool any_known = false;
  for (const std::string_view heading : headings) {
    const std::string_view name = field_name(heading);
    if (!is_field_name(name)) return nullptr;
    any_known = any_known || is_known(name);
    fields.emplace_back(name);
  }
  // One word alone is too little to be sure, unless it has nvidia-smi's own form.
  const bool own_form = fields.size() > 1 || fields[0].find('.') != std::string::npos;
  if (!any_known || !own_form) return nullptr;
  return std::make_unique<SmiCsv>(std::move(fields));
}

}  // namespace pagoda::faults
