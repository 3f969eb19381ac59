#include "telemetry/field_catalogue.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <string>
#include <unordered_map>

#include "telemetry/field_rows.h"

namespace pagoda::telemetry {
namespace {

std::string capitals(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

struct Catalogue {
  FieldRows rows;
  std::unordered_map<std::string, const FieldRow*> by_name;  // in capitals

  Catalogue() {
    add_identity_fields(rows);
    add_activity_fields(rows);
    add_memory_fields(rows);
    add_link_fields(rows);
    add_profiling_fields(rows);
    std::sort(rows.begin(), rows.end(), [](const FieldRow& a, const FieldRow& b) { return a.id < b.id; });
    for (const FieldRow& row : rows) {
      by_name.emplace(row.name, &row);
      if (!row.new_name.empty()) by_name.emplace(row.new_name, &row);
      by_name.emplace(capitals(row.tag), &row);
    }
    // An older name still: until DCGM 3.2.
    by_name.emplace("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", by_name.at("DCGM_FI_DEV_CLOCKS_EVENT_REASONS"));
  }
};

const Catalogue& catalogue() {
  static const auto* made = new Catalogue;
  return *made;
}

// Numbers that DCGM gave to things other than GPUs, or whose value is a structure and no number.
struct OwnerRow {
  unsigned first, last;
  std::string_view owner;
};
constexpr std::array kOwners = {
    OwnerRow{3, 3, "DCGM's own process"},
    OwnerRow{60, 62, "structures: `dcgmi topo` shows them"},
    OwnerRow{75, 77, "structures: `dcgmi discovery -c` shows them"},
    OwnerRow{130, 130, "structures: `smi -q -d SUPPORTED_CLOCKS` shows them"},
    OwnerRow{205, 205, "structures: `smi --query-accounted-apps` shows them"},
    OwnerRow{210, 221, "DCGM's own bookkeeping"},
    OwnerRow{350, 363, "results of diagnostics"},
    OwnerRow{501, 570, "vGPUs"},
    OwnerRow{571, 599, "NVLink ports of the fabric manager"},
    OwnerRow{700, 899, "NVSwitches"},
    OwnerRow{1100, 1141, "CPUs"},
    OwnerRow{1200, 1220, "NVLink 5 ports"},
    OwnerRow{1300, 1399, "ConnectX cards"},
    OwnerRow{1400, 1403, "C2C links"},
    OwnerRow{1404, 1419, "NVLink 5 ports"},
    OwnerRow{1425, 1442, "power smoothing: `smi -q -d POWER_SMOOTHING` shows it"},
    OwnerRow{1502, 1503, "the IMEX service"},
};

}  // namespace

std::string_view kept(std::string text) {
  static auto* all = new std::deque<std::string>;
  return all->emplace_back(std::move(text));
}

std::span<const FieldRow> field_rows() {
  return catalogue().rows;
}

const FieldRow* find_field(unsigned id) {
  const auto& rows = catalogue().rows;
  const auto found = std::lower_bound(rows.begin(), rows.end(), id,
                                      [](const FieldRow& row, unsigned wanted) { return row.id < wanted; });
  return found != rows.end() && found->id == id ? &*found : nullptr;
}

const FieldRow* find_field(std::string_view name) {
  const auto& by_name = catalogue().by_name;
  const std::string word = capitals(name);
  for (const std::string& spelling : {word, "DCGM_FI_" + word, "DCGM_FI_DEV_" + word}) {
    if (const auto found = by_name.find(spelling); found != by_name.end()) return found->second;
  }
  return nullptr;
}

const FieldRow* find_field_word(std::string_view word) {
  unsigned id = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (error == std::errc() && end == word.data() + word.size()) return find_field(id);
  return find_field(word);
}

std::optional<std::string_view> owner_of_unread_field(unsigned id) {
  if (find_field(id) != nullptr) return std::nullopt;
  for (const OwnerRow& row : kOwners) {
    if (id >= row.first && id <= row.last) return row.owner;
  }
  return std::nullopt;
}

FieldReading read_field(const FieldRow& row, const EntityReadings& entity) {
  if (!entity.mig && !entity.sample.injected.empty()) {
    const auto found = entity.sample.injected.find({entity.snapshot().index, row.id});
    if (found != entity.sample.injected.end()) return found->second;
  }
  if (entity.mig && row.level == FieldLevel::kGpu)
    return tl::unexpected<driver::Absence>(driver::absence_of(NVML_ERROR_NOT_SUPPORTED));
  return row.read(row, entity);
}

}  // namespace pagoda::telemetry
