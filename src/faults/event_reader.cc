#include "faults/event_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "faults/driver_facts.h"
#include "faults/fault_catalogue.h"
#include "faults/memory_size.h"

namespace pagoda::faults {
namespace {

template <class T>
T integer(std::string_view text, int base = 10) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

// The value after "name=", up to a comma; without quotes. "<unknown>" is none.
std::string value_after(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  std::string_view value = text.substr(at + name.size());
  value = value.substr(0, value.find(','));
  while (!value.empty() && (value.front() == '\'' || value.front() == ' ')) value.remove_prefix(1);
  while (!value.empty() && (value.back() == '\'' || value.back() == ' ')) value.remove_suffix(1);
  return value.find("<unknown>") == std::string_view::npos ? std::string(value) : std::string();
}

std::string_view strip(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == ',')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '.' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// What is left of an XID's text after "pid=…, name=…, ".
std::string_view without_process(std::string_view rest) {
  for (const std::string_view name : {"pid=", "name="}) {
    const size_t at = rest.find(name);
    if (at == std::string_view::npos) continue;
    const size_t comma = rest.find(',', at);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return strip(rest);
}

// XID 154: "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)".
struct RecoveryAction {
  int number;
  std::string_view text, command;
};
// nvmlDeviceGpuRecoveryAction_t.
constexpr std::array kRecoveryActions = {
    RecoveryAction{1, "GPU reset", "nvidia-smi --gpu-reset -i {gpu}"},
    RecoveryAction{2, "node reboot", "systemctl reboot"},
    RecoveryAction{3, "drain its peer-to-peer traffic, then reset the peers' applications",
                   "pagoda smi --query-compute-apps=pid,gpu_bus_id --format=csv"},
    RecoveryAction{4, "drain the GPU, then reset it", "nvidia-smi --gpu-reset -i {gpu}"},
    RecoveryAction{5, "recover the IMEX domain", "systemctl restart nvidia-imex"},
};

const FaultRow* read_recovery(std::string_view rest, Fields& fields) {
  const size_t to = rest.rfind(" to ");
  std::string_view target = to == std::string_view::npos ? rest : rest.substr(to + 4);
  const size_t hex = target.find("0x");
  const int number = hex == std::string_view::npos ? -1 : integer<int>(target.substr(hex + 2), 16);
  if (number == 0) return find_fault("xid-154-none");
  fields.set("action", std::string(strip(target)));
  set_recovery_action(number, fields);
  return find_fault("xid-154");
}

// XIDs 144–150: "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x…".
void read_nvlink(std::string_view rest, Fields& fields) {
  fields.set("unit", std::string(rest.substr(0, rest.find(' '))));
  if (rest.find("Nonfatal") != std::string_view::npos || rest.find("Non-fatal") != std::string_view::npos) {
    fields.set("fatality", "non-fatal");
  } else if (rest.find("Fatal") != std::string_view::npos) {
    fields.set("fatality", "fatal");
  }
  const size_t at = rest.find("Link ");
  if (at == std::string_view::npos) return;
  std::string_view link = rest.substr(at + 5);
  link = link.substr(0, link.find_first_not_of("0123456789"));
  if (link.size() <= 3) fields.set("link", std::string(link));
}

std::string_view verb_of(std::string_view rest) {
  if (rest.find("_READ") != std::string_view::npos) return "read";
  if (rest.find("_WRITE") != std::string_view::npos) return "wrote to";
  if (rest.find("_ATOMIC") != std::string_view::npos) return "did an atomic operation on";
  return "accessed";
}

const FaultRow* read_sxid(Fields& fields) {
  const std::string rest(fields.get("rest"));
  fields.set("rest", "");
  fields.set("switch", short_address(fields.get("switch")));
  fields.set("detail", rest.substr(0, 160));
  const bool fatal = rest.starts_with("Fatal");
  const size_t at = rest.find("Link ");
  if (at != std::string::npos) {
    const std::string_view link = std::string_view(rest).substr(at + 5);
    fields.set("link", std::string(link.substr(0, link.find_first_not_of("0123456789"))));
  }
  return find_fault(fatal ? "sxid-fatal" : "sxid-non-fatal");
}

void read_chip(Fields& fields) {
  const auto device = integer<uint16_t>(fields.get("device"), 16);
  fields.set("chip", name_of_device(device));
  fields.set("branch", last_branch_of_device(device));
}

// A GPU that its own last branch still drives, or a newer one: the driver is not too new but too old for it.
const FaultRow* legacy_or_new(const FaultRow* row, Fields& fields) {
  const bool legacy = fields.has("branch");
  return row->id == "legacy-gpu" && !legacy ? find_fault("new-gpu") : row;
}

void read_cuda(Fields& fields) {
  if (fields.has("found_number")) {  // torch: 12040 is 12.4
    const int number = integer<int>(fields.get("found_number"));
    fields.set("found", format("{}.{}", number / 1000, number % 1000 / 10));
  }
  if (const auto least = least_driver_of_cuda(fields.get("cuda"))) fields.set("least", std::string(*least));
  if (const auto least = least_cuda_of_capability(fields.get("capability"))) fields.set("least", *least);
}

// Reserved and unused is more than what was wanted, and not a trifle: fragmentation, not need.
bool is_fragmented(const Fields& fields, std::optional<double> unallocated) {
  const auto wanted = gib_of(fields.get("wanted")), total = gib_of(fields.get("total"));
  return unallocated && wanted && *unallocated >= *wanted && (!total || *unallocated >= 0.05 * *total);
}

const FaultRow* read_memory(const FaultRow* row, Fields& fields) {
  const std::string rest(fields.get("rest"));
  fields.set("rest", "");
  // "Process 81123 has 22.90 GiB memory in use. Of the allocated memory 21.90 GiB is allocated by PyTorch,
  // and 330.10 MiB is reserved by PyTorch but unallocated."
  const size_t process = rest.find("Process ");
  if (process != std::string::npos) {
    std::string_view text = std::string_view(rest).substr(process + 8);
    const std::string_view pid = text.substr(0, text.find_first_not_of("0123456789"));
    if (!pid.empty()) {
      fields.set("pid", std::string(pid));
      const size_t has = text.find("has "), end = text.find(" memory in use");
      const bool sized = has != std::string_view::npos && end != std::string_view::npos && end > has + 4;
      fields.set("holder", sized ? format("pid {} ({})", pid, text.substr(has + 4, end - has - 4))
                                 : format("pid {}", pid));
    }
  } else if (const size_t in = rest.find("this process has "); in != std::string::npos) {
    const size_t end = rest.find(" memory in use", in);
    if (end != std::string::npos)
      fields.set("holder", "this process itself (" + rest.substr(in + 17, end - in - 17) + ")");
  }
  std::optional<double> unallocated;
  if (const size_t at = rest.find(" is reserved by PyTorch but unallocated"); at != std::string::npos) {
    const size_t begin = rest.rfind("and ", at);
    if (begin != std::string::npos) unallocated = gib_of(rest.substr(begin + 4, at - begin - 4));
  } else if (const auto reserved = gib_of(fields.get("reserved")),
             allocated = gib_of(fields.get("allocated"));
             reserved && allocated) {
    unallocated = *reserved - *allocated;
  }
  for (const char* name : {"wanted", "free", "total"}) {
    if (const auto size = gib_of(fields.get(name))) fields.set(name, words_of_gib(*size));
  }
  if (row->id != "cuda-out-of-memory" || !is_fragmented(fields, unallocated)) return row;
  fields.set("unallocated", words_of_gib(*unallocated));
  return find_fault("gpu-memory-fragmented");
}

void read_kv(Fields& fields) {
  if (!fields.has("available") && fields.has("fits"))
    fields.set("available", format("{} tokens", fields.get("fits")));
  if (fields.has("fits") && fields.get("available").find("GiB") != std::string_view::npos)
    fields.set("estimate", format("{} tokens", fields.get("fits")));
}

// Kept by number: a storm of XIDs asks for it a million times.
const FaultRow* row_of_xid(int xid) {
  static const auto kRowsByNumber = [] {
    std::array<const FaultRow*, 256> rows{};
    for (size_t number = 0; number < rows.size(); ++number)
      rows[number] = find_fault(format("xid-{}", number));
    return rows;
  }();
  const bool known = xid >= 0 && xid < static_cast<int>(kRowsByNumber.size()) &&
                     kRowsByNumber[static_cast<size_t>(xid)] != nullptr;
  return known ? kRowsByNumber[static_cast<size_t>(xid)] : find_fault("xid-other");
}

}  // namespace

void set_recovery_action(int number, Fields& fields) {
  for (const RecoveryAction& row : kRecoveryActions) {
    if (row.number != number) continue;
    fields.set("action", std::string(row.text));
    fields.set("action_command", fill(row.command, fields));
  }
}

std::string short_address(std::string_view address) {
  if (address.starts_with("PCI:")) address.remove_prefix(4);
  std::string lower(address);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? c + 32 : c; });
  if (const size_t point = lower.find('.'); point != std::string::npos) lower.resize(point);
  const auto colons = std::count(lower.begin(), lower.end(), ':');
  if (colons == 1 && lower.size() == 5) return "0000:" + lower;
  const size_t first = lower.find(':');
  if (colons == 2 && first > 4 && first <= 8 && lower.find_first_not_of('0') >= first - 4)
    lower.erase(0, first - 4);
  return lower;
}

const FaultRow* complete_xid(Fields& fields) {
  const std::string rest(fields.get("rest"));
  fields.set("rest", "");
  const int xid = integer<int>(fields.get("xid"));
  const std::string pid = value_after(rest, "pid=");
  if (std::all_of(pid.begin(), pid.end(), [](char c) { return c >= '0' && c <= '9'; }))
    fields.set("pid", pid);
  fields.set("process", value_after(rest, "name="));
  fields.set("detail", std::string(without_process(rest).substr(0, 160)));
  if (xid == 31) fields.set("verb", std::string(verb_of(rest)));
  if (xid == 74 || (xid >= 144 && xid <= 150)) read_nvlink(without_process(rest), fields);
  if (xid == 79) fields.set("how", "XID 79");
  if (xid == 154) return read_recovery(rest, fields);
  return row_of_xid(xid);
}

std::string application_of(const Fields& fields) {
  const std::string_view pid = fields.get("pid"), process = fields.get("process");
  if (pid.empty() && process.empty()) return "the application";
  if (process.empty()) return format("the application (pid {})", pid);
  return pid.empty() ? format("the application ({})", process)
                     : format("the application (pid {} {})", pid, process);
}

const FaultRow* read_event(const LogPattern& pattern, Fields& fields) {
  fields.set("gpu", short_address(fields.get("gpu")));
  if (fields.has("gpu_full")) fields.set("gpu", short_address(fields.get("gpu_full")));
  const FaultRow* row = find_fault(pattern.fault);
  switch (pattern.reader) {
    case Reader::kPlain:
      break;
    case Reader::kXid:
      return complete_xid(fields);
    case Reader::kSxid:
      return read_sxid(fields);
    case Reader::kChip:
      read_chip(fields);
      return legacy_or_new(row, fields);
    case Reader::kMemory:
      read_kv(fields);
      return read_memory(row, fields);
    case Reader::kCuda:
      read_cuda(fields);
      break;
  }
  return row;
}

}  // namespace pagoda::faults
