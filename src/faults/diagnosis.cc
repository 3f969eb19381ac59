#include "faults/diagnosis.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/format.h"
#include "faults/event_reader.h"
#include "faults/fault_catalogue.h"
#include "faults/nccl_watchdog.h"
#include "faults/smi_section.h"

namespace pagoda::faults {
namespace {

constexpr int64_t kManyCorrected = 100;  // corrected PCIe errors in a log that make a link marginal

bool is_index(std::string_view label) {
  return !label.empty() && label.find_first_not_of("0123456789") == std::string_view::npos;
}

Finding finding_of(const EventGroup& group) {
  Finding finding;
  finding.fault = group.fault;
  finding.severity = group.fault->severity;
  finding.confidence = group.fault->confidence;
  finding.drain = group.fault->drain == Drain::kYes;
  finding.count = group.count;
  finding.events = group.first;
  finding.events.insert(finding.events.end(), group.last.begin(), group.last.end());
  for (const Event& event : finding.events) finding.fields.add_missing(event.fields);
  for (const std::string_view key : words_of(group.fault->remedies)) finding.remedies.emplace_back(key);
  return finding;
}

// The GPU by its address, where a source tells which index has which.
void name_gpu(Finding& finding, const MachineRecord& machine) {
  const std::string_view gpu = finding.fields.get("gpu");
  if (is_index(gpu))
    finding.fields.set("gpu", machine.address_of(gpu).empty() ? std::string(gpu) : machine.address_of(gpu));
}

// Non-fatal link errors are no fault of the node.
void weigh_fatality(Finding& finding) {
  if (finding.fields.get("fatality") != "non-fatal") return;
  finding.severity = Severity::kWarning;
  finding.drain = false;
}

// A temperature that was judged without the GPU's own threshold, which another output tells.
bool is_cool_after_all(const Finding& finding, const MachineRecord& machine) {
  if (finding.fault->id != "too-hot" || !finding.fields.has("assumed")) return false;
  const GpuRecord* record = machine.find(finding.fields.get("gpu"));
  if (record == nullptr) return false;
  double temperature = 0;
  const std::string_view text = finding.fields.get("temperature");
  std::from_chars(text.data(), text.data() + text.size(), temperature);
  if (const auto slowdown = record->last[Quantity::kSlowdownTemperature].value)
    return temperature < *slowdown;
  if (const auto margin = record->last[Quantity::kMargin].value)
    return *margin > record->last[Quantity::kSlowdownMargin].value.value_or(0);
  return false;
}

bool is_no_fault(const Finding& finding, const MachineRecord& machine) {
  if (is_cool_after_all(finding, machine)) return true;
  return finding.fault->id == "aer-corrected-many" && finding.count < kManyCorrected;
}

void merge(Finding& into, Finding&& from) {
  into.count += from.count;
  into.fields.add_missing(from.fields);
  into.events.insert(into.events.end(), from.events.begin(), from.events.end());
  std::stable_sort(into.events.begin(), into.events.end(),
                   [](const Event& a, const Event& b) { return a.order < b.order; });
}

// One GPU named in two ways gives one finding; a sentence that names no GPU belongs to the only one that has
// it.
std::vector<Finding> merged(std::vector<Finding> findings) {
  std::vector<Finding> result;
  std::unordered_map<std::string, size_t> places;
  for (Finding& finding : findings) {
    const auto [place, is_new] =
        places.try_emplace(EventLog::key_of(*finding.fault, finding.fields), result.size());
    if (is_new) {
      result.push_back(std::move(finding));
    } else {
      merge(result[place->second], std::move(finding));
    }
  }
  for (size_t i = 0; i < result.size();) {
    const bool nameless = result[i].fault->key == "gpu" && !result[i].fields.has("gpu");
    const auto named =
        !nameless ? result.end() : std::find_if(result.begin(), result.end(), [&](const Finding& f) {
          return f.fault == result[i].fault && f.fields.has("gpu");
        });
    if (named == result.end()) {
      ++i;
      continue;
    }
    merge(*named, std::move(result[i]));
    result.erase(result.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return result;
}

void complete(Finding& finding, const Records& records) {
  Fields& fields = finding.fields;
  const std::string_view id = finding.fault->id;
  if (finding.count > 1) fields.set("times", format("{} times", finding.count));
  if (!fields.has("count")) fields.set("count", std::to_string(finding.count));
  if (!fields.has("app")) fields.set("app", application_of(fields));
  if (fields.has("pid"))
    fields.set("who", format("pid {}{}{}", fields.get("pid"), fields.has("process") ? " " : "",
                             fields.get("process")));
  fields.set("slot_address", std::string(fields.has("port") ? fields.get("port") : fields.get("gpu")));
  if (id == "xid-79" && !fields.has("how")) fields.set("how", "as XID 79, which was not logged");
  const bool about_gpu = finding.fault->cause.find("{gpu}") != std::string_view::npos;
  if (about_gpu && !fields.has("gpu")) fields.set("gpu", "of unknown address");
  if (id == "fabric-manager" && records.machine.gpus().size() > 1)
    fields.set("count_gpus", std::to_string(records.machine.gpus().size()));
  if (fields.has("count_gpus")) finding.confidence = Confidence::kHigh;
  weigh_fatality(finding);
  word(finding);
}

}  // namespace

void word(Finding& finding) {
  finding.cause = fill(finding.fault->cause, finding.fields);
}

int64_t order_of(const Finding& finding) {
  return finding.events.empty() ? 0 : finding.events.front().order;
}

std::vector<Finding> find_faults(const Records& records) {
  std::vector<Finding> findings;
  std::vector<const EventGroup*> time_outs;
  for (const EventGroup& group : records.events.groups()) {
    if (group.fault->id == "nccl-timeout") {
      time_outs.push_back(&group);
      continue;
    }
    Finding finding = finding_of(group);
    name_gpu(finding, records.machine);
    if (!is_no_fault(finding, records.machine)) findings.push_back(std::move(finding));
  }
  findings = merged(std::move(findings));
  if (auto watchdog = judge_watchdogs(time_outs)) findings.push_back(std::move(*watchdog));
  for (Finding& finding : findings) complete(finding, records);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); });
  return findings;
}

}  // namespace pagoda::faults
