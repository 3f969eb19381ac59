#include "faults/link_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string>

#include "faults/diagnosis.h"
#include "faults/event_reader.h"

namespace pagoda::faults {
namespace {

enum class Scope {
  kGpu,       // both name the same GPU
  kProcess,   // the same GPU, and the same process where both name one
  kPort,      // the same port
  kUpstream,  // the cause's port lies above the effect's GPU
  kNode,      // anywhere; notes cause nothing here
};

// A fault by its id, or all of a kind.
struct Which {
  Kind kind;
  std::string_view id;
  constexpr Which(Kind of_kind) : kind(of_kind) {}                              // NOLINT
  constexpr Which(std::string_view of_id) : kind(Kind::kReading), id(of_id) {}  // NOLINT
  constexpr Which(const char* of_id) : kind(Kind::kReading), id(of_id) {}       // NOLINT
  bool fits(const FaultRow& row) const { return id.empty() ? row.kind == kind : row.id == id; }
};

struct Rule {
  Which cause, effect;
  Scope scope;
};

constexpr double kWindow = 600;  // seconds between cause and effect, where their clocks can be compared

using enum Kind;
using enum Scope;

// Of several rules for one effect the first that finds a cause holds: deeper causes first.
constexpr Rule kRules[] = {
    // The same thing said twice.
    {"aer-surprise-down", "aer-uncorrected", kPort},
    {"aer-surprise-down", "link-down", kPort},
    {"driver-mismatch", "nvml-mismatch", kNode},
    {"driver-mismatch", "container-driver-mismatch", kNode},
    {"driver-mismatch", "cuda-mismatch", kNode},
    {"nvml-mismatch", "container-driver-mismatch", kNode},
    {"nvml-mismatch", "cuda-mismatch", kNode},
    {"fabric-manager", "fabric-not-ready", kNode},
    {"fabric-manager-version", "fabric-manager", kNode},
    {"fabric-manager-stopped", "fabric-manager", kNode},
    {"fabric-manager-stopped", "fabric-not-ready", kNode},
    {"fabric-manager", "nvlink-inactive", kNode},
    {"fabric-not-ready", "nvlink-inactive", kNode},
    {"host-out-of-memory", "worker-killed", kNode},
    {"cgroup-out-of-memory", "worker-killed", kNode},
    {"zombie-holder", "cuda-out-of-memory", kNode},
    {"xid-79", "nvml-unknown-error", kNode},
    {"cgroup-devices-lost", "nvml-unknown-error", kNode},
    {"xid-79", "gpu-not-answering", kNode},
    {"xid-79", "device-handle", kNode},
    {"xid-79", "gpu-lost", kNode},
    {"xid-48", "cuda-ecc", kNode},
    {"xid-95", "cuda-ecc", kNode},
    {"xid-94", "cuda-ecc", kNode},
    {"xid-140", "cuda-ecc", kNode},
    {"xid-74", "cuda-nvlink", kNode},
    {"xid-149", "cuda-nvlink", kNode},
    // From the slot to the bus.
    {kPower, kPcie, kGpu},
    {kPower, kOffBus, kGpu},
    {kPcie, kOffBus, kUpstream},
    {kPcie, kRecovery, kUpstream},
    {kHeat, kPower, kGpu},
    {kHeat, kOffBus, kGpu},
    // What a lost, broken or disconnected GPU brings about.
    {kOffBus, kRecovery, kGpu},
    {kOffBus, kFirmware, kGpu},
    {kOffBus, kTimeout, kGpu},
    {kOffBus, kNvlink, kGpu},
    {kOffBus, kCleanup, kGpu},
    {kOffBus, kGpuMemory, kGpu},
    {kOffBus, kReading, kGpu},
    {kOffBus, "rm-init-failed", kGpu},
    {kGpuMemory, kRecovery, kGpu},
    {kGpuMemory, kTimeout, kGpu},
    {kGpuMemory, kCleanup, kGpu},
    {kNvswitch, kNvlink, kNode},
    {kNvswitch, kFabric, kNode},
    {kNvlink, kRecovery, kGpu},
    {kNvlink, kTimeout, kGpu},
    {kNvlink, kCleanup, kGpu},
    {kFirmware, kTimeout, kGpu},
    {kFirmware, kRecovery, kGpu},
    {kApplication, kTimeout, kProcess},
    {kApplication, kCleanup, kProcess},
    {kApplication, kRecovery, kGpu},
    {kFirmware, kCleanup, kGpu},
    {kTimeout, kRecovery, kGpu},
    {kTimeout, kCleanup, kGpu},
    // The driver, and what cannot start without it.
    {kDriver, kDriverSymptom, kNode},
    {kDriver, kCudaStart, kNode},
    {kDriver, "container-driver-not-loaded", kNode},
    {kDriver, kFabric, kNode},
    {kOffBus, "no-devices", kNode},
    {kOffBus, "nvml-not-running", kNode},
    {"probe-not-called", "none-initialised", kNode},
    {"rm-init-failed", "none-initialised", kNode},
    {"rm-init-failed", "no-devices", kNode},
    {"none-initialised", "no-devices", kNode},
    {"none-initialised", "nvml-not-running", kNode},
    {"probe-not-called", "nvml-not-running", kNode},
    {kDriverSymptom, kCudaStart, kNode},
    {kDriverSymptom, "container-driver-not-loaded", kNode},
    {kFabric, kCudaStart, kNode},
    {kContainer, kCudaStart, kNode},
    // What programs see of it.
    {kOffBus, kCudaFault, kNode},
    {kGpuMemory, kCudaFault, kNode},
    {kNvlink, kCudaFault, kNode},
    {kFirmware, kCudaFault, kNode},
    {kApplication, kCudaFault, kNode},
    {kTimeout, kCudaFault, kNode},
    {kOffBus, kNccl, kNode},
    {kGpuMemory, kNccl, kNode},
    {kNvswitch, kNccl, kNode},
    {kNvlink, kNccl, kNode},
    {kFirmware, kNccl, kNode},
    {kGpuOutOfMemory, kNccl, kNode},
    {kHostOutOfMemory, kNccl, kNode},
    {kCudaFault, kNccl, kNode},
    // Ends and echoes: whatever else there is, it is the cause.
    {kOffBus, kNcclSymptom, kNode},
    {kGpuMemory, kNcclSymptom, kNode},
    {kNvlink, kNcclSymptom, kNode},
    {kCudaFault, kNcclSymptom, kNode},
    {kGpuOutOfMemory, kNcclSymptom, kNode},
    {kHostOutOfMemory, kNcclSymptom, kNode},
    {kNccl, kNcclSymptom, kNode},
    {kSetup, kNcclSymptom, kNode},
    {kOffBus, kServerEnd, kNode},
    {kGpuMemory, kServerEnd, kNode},
    {kNvlink, kServerEnd, kNode},
    {kFirmware, kServerEnd, kNode},
    {kDriver, kServerEnd, kNode},
    {kFabric, kServerEnd, kNode},
    {kCudaStart, kServerEnd, kNode},
    {kCudaFault, kServerEnd, kNode},
    {kGpuOutOfMemory, kServerEnd, kNode},
    {kHostOutOfMemory, kServerEnd, kNode},
    {kNccl, kServerEnd, kNode},
    {kNcclSymptom, kServerEnd, kNode},
    {kSetup, kServerEnd, kNode},
    {kContainer, kServerEnd, kNode},
};

// Within a kind: what comes first in this list is the cause, whatever the order in the log. Others go by
// severity, then by time.
constexpr std::array<std::string_view, 17> kPrecedence = {
    "xid-48", "xid-95",  "xid-140", "xid-94",  "cuda-ecc", "xid-92",        "xid-64",   "xid-157",
    "xid-63", "xid-156", "xid-171", "xid-172", "xid-79",   "device-handle", "gpu-lost", "gpu-not-answering",
    "xid-43"};

struct Within {
  Kind kind;
  Scope scope;
};
constexpr std::array kWithin = {
    Within{kGpuMemory, kGpu},       Within{kNvlink, kGpu},     Within{kOffBus, kGpu},
    Within{kApplication, kProcess}, Within{kCleanup, kGpu},    Within{kHeat, kGpu},
    Within{kPower, kGpu},           Within{kFirmware, kGpu},   Within{kRecovery, kGpu},
    Within{kNcclSymptom, kNode},    Within{kServerEnd, kNode}, Within{kCudaFault, kNode}};

struct Address {
  std::string domain;
  int bus = -1;
};

Address read_address(std::string_view text) {  // "0000:3b:00"
  Address address;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 3 > text.size()) return address;
  address.domain = text.substr(0, colon);
  std::from_chars(text.data() + colon + 1, text.data() + colon + 3, address.bus, 16);
  return address;
}

// Ports stand on lower bus numbers than what is behind them; the nearest below is the likeliest.
int distance_upstream(std::string_view port, std::string_view gpu) {
  if (short_address(port) == gpu) return 0;
  const Address above = read_address(port), below = read_address(gpu);
  if (above.domain != below.domain || above.bus < 0 || above.bus > below.bus) return -1;
  return below.bus - above.bus + 1;
}

bool is_near(const Finding& a, const Finding& b) {
  if (a.events.empty() || b.events.empty()) return true;
  for (const Event& left : a.events) {
    for (const Event& right : b.events) {
      if (may_be_near(left.when, right.when, kWindow)) return true;
    }
  }
  return false;
}

bool same_gpu(const Finding& a, const Finding& b) {
  return a.fields.has("gpu") && a.fields.get("gpu") == b.fields.get("gpu");
}

bool in_scope(Scope scope, const Finding& cause, const Finding& effect) {
  switch (scope) {
    case kGpu:
      return same_gpu(cause, effect);
    case kProcess: {
      const std::string_view mine = cause.fields.get("pid"), its = effect.fields.get("pid");
      return same_gpu(cause, effect) && (mine.empty() || its.empty() || mine == its);
    }
    case kPort:
      return cause.fields.get("port") == effect.fields.get("port");
    case kUpstream:
      return distance_upstream(cause.fields.has("port") ? cause.fields.get("port") : cause.fields.get("gpu"),
                               effect.fields.get("gpu")) >= 0;
    case kNode:
      return cause.severity >= Severity::kWarning;
  }
  return false;
}

int distance(Scope scope, const Finding& cause, const Finding& effect) {
  if (scope == kUpstream)
    return distance_upstream(cause.fields.has("port") ? cause.fields.get("port") : cause.fields.get("gpu"),
                             effect.fields.get("gpu"));
  return static_cast<int>(std::min<int64_t>(std::abs(order_of(cause) - order_of(effect)), 1 << 30));
}

// The nearest finding that a rule accepts as the cause of `effect`.
std::optional<size_t> cause_by(const Rule& rule, const std::vector<Finding>& findings, size_t effect) {
  std::optional<size_t> best;
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding& candidate = findings[i];
    if (i == effect || !rule.cause.fits(*candidate.fault) ||
        !in_scope(rule.scope, candidate, findings[effect]) || !is_near(candidate, findings[effect]))
      continue;
    if (!best || distance(rule.scope, candidate, findings[effect]) <
                     distance(rule.scope, findings[*best], findings[effect]))
      best = i;
  }
  return best;
}

size_t precedence(const Finding& finding) {
  const auto at = std::find(kPrecedence.begin(), kPrecedence.end(), finding.fault->id);
  return static_cast<size_t>(at - kPrecedence.begin());
}

bool comes_before(const Finding& a, const Finding& b) {
  const size_t mine = precedence(a), its = precedence(b);
  if (mine != its) return mine < its;
  if (a.severity != b.severity) return a.severity > b.severity;
  return order_of(a) < order_of(b);
}

std::optional<size_t> cause_within_kind(const std::vector<Finding>& findings, size_t effect) {
  const auto within = std::find_if(kWithin.begin(), kWithin.end(),
                                   [&](const Within& w) { return w.kind == findings[effect].fault->kind; });
  if (within == kWithin.end()) return std::nullopt;
  std::optional<size_t> best;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (i == effect || findings[i].fault->kind != within->kind ||
        !comes_before(findings[i], findings[effect]) ||
        !in_scope(within->scope, findings[i], findings[effect]) || !is_near(findings[i], findings[effect]))
      continue;
    if (!best || comes_before(findings[i], findings[*best])) best = i;
  }
  return best;
}

}  // namespace

bool may_be_upstream(std::string_view port, std::string_view gpu) {
  return distance_upstream(port, gpu) >= 0;
}

std::vector<std::optional<size_t>> find_causes(const std::vector<Finding>& findings) {
  std::vector<std::optional<size_t>> causes(findings.size());
  for (size_t effect = 0; effect < findings.size(); ++effect) {
    for (const Rule& rule : kRules) {
      if (!rule.effect.fits(*findings[effect].fault)) continue;
      causes[effect] = cause_by(rule, findings, effect);
      if (causes[effect]) break;
    }
    if (!causes[effect]) causes[effect] = cause_within_kind(findings, effect);
  }
  return causes;
}

}  // namespace pagoda::faults
