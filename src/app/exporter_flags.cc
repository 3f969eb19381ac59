#include "app/exporter_flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "app/flag_values.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using std::chrono::milliseconds;
using enum Takes;

constexpr std::string_view kWhat = "What is shown", kServing = "How it is served", kLabels = "Labels",
                           kOther = "Log and rest";

struct Variable {
  std::string_view name, flag;
};
constexpr std::array kVariables{
    Variable{"DCGM_EXPORTER_COLLECTORS", "collectors"},
    Variable{"DCGM_EXPORTER_CONFIG_FILE", "config-file"},
    Variable{"DCGM_EXPORTER_LISTEN", "address"},
    Variable{"DCGM_EXPORTER_WEB_READ_TIMEOUT", "web-read-timeout"},
    Variable{"DCGM_EXPORTER_WEB_WRITE_TIMEOUT", "web-write-timeout"},
    Variable{"DCGM_EXPORTER_INTERVAL", "collect-interval"},
    Variable{"DCGM_EXPORTER_KUBERNETES", "kubernetes"},
    Variable{"DCGM_EXPORTER_USE_OLD_NAMESPACE", "use-old-namespace"},
    Variable{"DCGM_EXPORTER_CPU_DEVICES_STR", "cpu-devices"},
    Variable{"DCGM_EXPORTER_CONFIGMAP_DATA", "configmap-data"},
    Variable{"DCGM_REMOTE_HOSTENGINE_INFO", "remote-hostengine-info"},
    Variable{"DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS", "kubernetes-enable-pod-labels"},
    Variable{"DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID", "kubernetes-enable-pod-uid"},
    Variable{"DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE", "kubernetes-gpu-id-type"},
    Variable{"DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", "kubernetes-pod-label-allowlist-regex"},
    Variable{"DCGM_EXPORTER_DEVICES_STR", "devices"},
    Variable{"DCGM_EXPORTER_NO_HOSTNAME", "no-hostname"},
    Variable{"DCGM_EXPORTER_OTHER_DEVICES_STR", "switch-devices"},
    Variable{"DCGM_EXPORTER_USE_FAKE_GPUS", "fake-gpus"},
    Variable{"DCGM_EXPORTER_WEB_CONFIG_FILE", "web-config-file"},
    Variable{"DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE", "xid-count-window-size"},
    Variable{"DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME", "replace-blanks-in-model-name"},
    Variable{"DCGM_EXPORTER_DEBUG", "debug"},
    Variable{"DCGM_EXPORTER_CLOCK_EVENTS_COUNT_WINDOW_SIZE", "clock-events-count-window-size"},
    Variable{"DCGM_EXPORTER_ENABLE_DCGM_LOG", "enable-dcgm-log"},
    Variable{"DCGM_EXPORTER_DCGM_LOG_LEVEL", "dcgm-log-level"},
    Variable{"DCGM_EXPORTER_LOG_FORMAT", "log-format"},
    Variable{"DCGM_POD_RESOURCES_KUBELET_SOCKET", "pod-resources-kubelet-socket"},
    Variable{"DCGM_HPC_JOB_MAPPING_DIR", "hpc-job-mapping-dir"},
    Variable{"DCGM_EXPORTER_CONTAINER_LABELS", "container-labels"},
    Variable{"DCGM_CONTAINER_RUNTIME_SOCKET", "container-runtime-socket"},
    Variable{"NVIDIA_RESOURCE_NAMES", "nvidia-resource-names"},
    Variable{"KUBERNETES_VIRTUAL_GPUS", "kubernetes-virtual-gpus"},
    Variable{"DCGM_EXPORTER_DUMP_ENABLED", "dump-enabled"},
    Variable{"DCGM_EXPORTER_DUMP_DIRECTORY", "dump-directory"},
    Variable{"DCGM_EXPORTER_DUMP_RETENTION", "dump-retention"},
    Variable{"DCGM_EXPORTER_DUMP_COMPRESSION", "dump-compression"},
    Variable{"KUBERNETES_ENABLE_DRA", "kubernetes-enable-dra"},
    Variable{"DISABLE_STARTUP_VALIDATE", "disable-startup-validate"},
    Variable{"DCGM_EXPORTER_ENABLE_GPU_BIND_UNBIND_WATCH", "enable-gpu-bind-unbind-watch"},
    Variable{"DCGM_EXPORTER_GPU_BIND_UNBIND_POLL_INTERVAL", "gpu-bind-unbind-poll-interval"},
    Variable{"DCGM_EXPORTER_ENABLE_PPROF", "enable-pprof"},
    Variable{"DCGM_EXPORTER_SYSTEMD_SOCKET", "web-systemd-socket"},
};

// "HOST:PORT", ":PORT", "[ADDRESS]:PORT".
Setter to_address(std::string* host, int* port) {
  return [=](std::span<const std::string> values) -> Status {
    const std::string& text = values.back();
    const size_t colon = text.rfind(':');
    int number = -1;
    if (colon != std::string::npos) {
      const char* const end = text.data() + text.size();
      const auto [last, error] = std::from_chars(text.data() + colon + 1, end, number);
      if (error != std::errc() || last != end) number = -1;
    }
    if (number < 0 || number > 65535)
      return fail(ErrorCode::kInvalidArgument, format("'{}' is no HOST:PORT, as :9400", text));
    std::string name = text.substr(0, colon);
    if (name.size() >= 2 && name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
    *host = name.empty() ? "0.0.0.0" : name;
    *port = number;
    return {};
  };
}

Setter to_milliseconds(milliseconds* field, int64_t min) {
  return [=](std::span<const std::string> values) -> Status {
    int64_t number = 0;
    PAGODA_TRY(to_integer(&number, {min, int64_t{24} * 3600 * 1000})(values));
    *field = milliseconds(number);
    return {};
  };
}

// Go's durations: "10s", "1m30s", "500ms".
std::optional<milliseconds> read_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}}};
  double total = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                   [&](const auto& u) { return u.first == text.substr(0, letters); });
    if (unit == kUnits.end()) return std::nullopt;
    total += number * unit->second;
    text.remove_prefix(letters);
  }
  if (total < 1 || total > 8.64e7) return std::nullopt;
  return milliseconds(static_cast<int64_t>(total));
}

Setter to_duration(milliseconds* field) {
  return [=](std::span<const std::string> values) -> Status {
    const auto duration = read_duration(values.back());
    if (!duration)
      return fail(ErrorCode::kInvalidArgument,
                  format("'{}' is no duration up to a day, as 10s or 1m30s", values.back()));
    *field = *duration;
    return {};
  };
}

Setter to_devices(telemetry::DeviceChoice* field) {
  return [=](std::span<const std::string> values) -> Status {
    PAGODA_ASSIGN(*field, telemetry::parse_device_choice(values.back()));
    return {};
  };
}

Setter to_debug(log::Level* level) {
  return [=](std::span<const std::string> values) -> Status {
    bool on = false;
    PAGODA_TRY(to_switch(&on)(values));
    if (on) *level = log::Level::kDebug;
    return {};
  };
}

Flag works(std::string_view group, std::string_view name, std::vector<std::string_view> aliases, Takes takes,
           std::string_view value_name, Setter set, std::string help) {
  Flag row;
  row.name = name;
  row.aliases = std::move(aliases);
  row.group = group;
  row.takes = takes;
  row.value_name = value_name;
  row.set = std::move(set);
  row.help = std::move(help);
  return row;
}

Flag other(Standing standing, std::string_view name, std::vector<std::string_view> aliases, Takes takes,
           std::vector<std::string_view> harmless, std::string_view reason) {
  Flag row;
  row.name = name;
  row.aliases = std::move(aliases);
  row.group = kOther;
  row.takes = takes;
  row.standing = standing;
  row.harmless = std::move(harmless);
  row.reason = reason;
  return row;
}
Flag no_effect(std::string_view name, Takes takes, std::string_view reason) {
  return other(Standing::kWithoutMeaning, name, {}, takes, {}, reason);
}
Flag not_yet(std::string_view name, std::vector<std::string_view> aliases, Takes takes,
             std::vector<std::string_view> harmless, std::string_view reason) {
  return other(Standing::kNotYet, name, std::move(aliases), takes, std::move(harmless), reason);
}

void add_working_flags(std::vector<Flag>& flags, ExporterOptions& o) {
  const auto add = [&](Flag row) { flags.push_back(std::move(row)); };
  add(works(kWhat, "collectors", {"f"}, kValue, "FILE", to_text(&o.counters_file),
            "the counters file: a line `FIELD, gauge|counter|label, help` for each field (default: "
            "/etc/dcgm-exporter/default-counters.csv if it is there, else the built-in set)"));
  add(works(kWhat, "print-counters", {}, kNothing, "", to_switch(&o.print_counters),
            "print the built-in set as a counters file, and end"));
  add(works(
      kWhat, "devices", {"d"}, kValue, "CHOICE", to_devices(&o.devices),
      "f: each GPU, or its MIG instances where it has them (default); g: GPUs; i: instances; g:0,2-4; g+i"));
  add(works(kWhat, "collect-interval", {"c"}, kValue, "MS", to_milliseconds(&o.interval, 100),
            "milliseconds between two readings of the GPUs (default 30000)"));
  add(works(kWhat, "xid-count-window-size", {"x"}, kValue, "MS", to_milliseconds(&o.xid_window, 1),
            "milliseconds over which DCGM_EXP_XID_ERRORS_COUNT counts (default 300000)"));
  add(works(kWhat, "clock-events-count-window-size", {}, kValue, "MS",
            to_milliseconds(&o.clock_event_window, 1),
            "milliseconds over which DCGM_EXP_CLOCK_EVENTS_COUNT counts (default 300000)"));
  add(works(kServing, "address", {"a"}, kValue, "HOST:PORT", to_address(&o.host, &o.port),
            "where to listen (default :9400, on every interface)"));
  add(works(kServing, "web-read-timeout", {}, kValue, "DURATION", to_duration(&o.read_timeout),
            "how long a request may take to arrive (default 10s)"));
  add(works(kServing, "web-write-timeout", {}, kValue, "DURATION", to_duration(&o.write_timeout),
            "how long a client may take no byte of its answer (default 10s)"));
  add(works(kLabels, "no-hostname", {"n"}, kNothing, "", to_inverted_switch(&o.hostname),
            "leave the label Hostname out (it is $NODE_NAME, else the machine's name)"));
  add(works(kLabels, "use-old-namespace", {"o"}, kNothing, "", to_switch(&o.old_names),
            "the label names of dcgm-exporter 1.x: uuid, pod_name, …"));
  add(works(kLabels, "replace-blanks-in-model-name", {"rbmn"}, kNothing, "", to_switch(&o.replace_blanks),
            "dashes for blanks in the label modelName"));
  add(works(kLabels, "hpc-job-mapping-dir", {}, kValue, "DIR", to_text(&o.job_mapping_folder),
            "a folder whose files are named by GPU index and hold job ids, one a line: the label hpc_job"));
  add(works(kOther, "debug", {}, kNothing, "", to_debug(&o.log_level), "log every collection"));
  add(works(kOther, "log-format", {}, kValue, "text|json",
            to_choice<log::Style>(&o.log_style, {{"text", log::Style::kText}, {"json", log::Style::kJson}}),
            "the form of the log (default text)"));
}

void add_kubernetes_flags(std::vector<Flag>& flags) {
  constexpr std::string_view kReason =
      "this build has no kubelet client, so series would come without their pods; leave it out to have them "
      "without";
  flags.push_back(not_yet("kubernetes", {"k"}, kNothing, {"false"}, kReason));
  for (const std::string_view name : {"kubernetes-enable-pod-labels", "kubernetes-enable-pod-uid",
                                      "kubernetes-virtual-gpus", "kubernetes-enable-dra"})
    flags.push_back(not_yet(name, {}, kNothing, {"false"}, kReason));
  flags.push_back(not_yet("kubernetes-gpu-id-type", {}, kValue, {"uid"}, kReason));
  flags.push_back(not_yet("kubernetes-pod-label-allowlist-regex", {}, kValue, {}, kReason));
  flags.push_back(not_yet("nvidia-resource-names", {}, kValue, {}, kReason));
  flags.push_back(not_yet("pod-resources-kubelet-socket", {}, kValue,
                          {"/var/lib/kubelet/pod-resources/kubelet.sock"}, kReason));
  flags.push_back(not_yet("configmap-data", {"m"}, kValue, {"none"},
                          "a ConfigMap is read as a file: mount it and name it with --collectors"));
}

void add_other_flags(std::vector<Flag>& flags) {
  const auto add = [&](Flag row) { flags.push_back(std::move(row)); };
  add(not_yet("config-file", {}, kValue, {}, "a YAML configuration is not read yet; the flags say the same"));
  add(not_yet("web-config-file", {}, kValue, {},
              "TLS and passwords are not in this version: a proxy in front has them"));
  add(not_yet("web-systemd-socket", {}, kNothing, {"false"}, "socket activation is not in this version"));
  add(not_yet("container-labels", {}, kNothing, {"false"},
              "container engines are not asked in this version"));
  add(not_yet("container-runtime-socket", {}, kValue, {}, "container engines are not asked in this version"));
  add(not_yet("remote-hostengine-info", {"r"}, kValue, {"localhost:5555"},
              "GPUs are read where the exporter runs, without a host engine: run it on that machine"));
  add(not_yet("switch-devices", {"s"}, kValue, {"f"}, "NVSwitches are not read in this version"));
  add(not_yet("cpu-devices", {"p"}, kValue, {"f"}, "Grace CPUs are not read in this version"));
  add(not_yet("dump-enabled", {}, kNothing, {"false"}, "dumps are not in this version; --debug logs"));
  add(not_yet("enable-pprof", {}, kNothing, {"false"}, "there is no Go runtime to profile"));
  add(no_effect("fake-gpus", kNothing, "simulated GPUs need no leave: pagoda --simulate h100x8 exporter"));
  add(no_effect("enable-dcgm-log", kNothing, "there is no DCGM library that could log"));
  add(no_effect("dcgm-log-level", kValue, "there is no DCGM library that could log"));
  add(no_effect("dump-directory", kValue, "dumps are not in this version"));
  add(no_effect("dump-retention", kValue, "dumps are not in this version"));
  add(no_effect("dump-compression", kNothing, "dumps are not in this version"));
  add(no_effect("disable-startup-validate", kNothing,
                "nothing but NVML is needed, and nothing else validated"));
  add(no_effect("enable-gpu-bind-unbind-watch", kNothing,
                "a GPU that comes back is noticed always; one that is new needs a restart"));
  add(no_effect("gpu-bind-unbind-poll-interval", kValue,
                "a GPU that comes back is noticed at each collection"));
}

// `--flag=value` for each variable that is set; an empty one counts as not set.
std::vector<std::string> words_of_environment() {
  std::vector<std::string> words;
  for (const Variable& variable : kVariables) {
    const char* const value = std::getenv(std::string(variable.name).c_str());
    if (value != nullptr && *value != '\0') words.push_back(format("--{}={}", variable.flag, value));
  }
  return words;
}

Error named_by_variable(Error error) {
  for (const Variable& variable : kVariables) {
    if (variable.flag == error.param) error.message = format("{}: {}", variable.name, error.message);
  }
  return error;
}

}  // namespace

FlagTable exporter_flag_table(ExporterOptions& options, const std::string& program) {
  FlagTable table;
  table.usage = format("{} [flags]", program);
  table.summary =
      "GPU metrics for Prometheus, under dcgm-exporter's names and without DCGM: /metrics, /health. Its "
      "environment variables (DCGM_EXPORTER_…) work, too; docs/exporter.md has the series.";
  table.examples = {
      {"pagoda exporter", "on port 9400"},
      {"pagoda exporter --address :9835 -c 5000", "on the port of older guides, a reading every 5 s"},
      {"pagoda exporter --print-counters > counters.csv", "a counters file to begin with"},
      {"pagoda exporter -f counters.csv", "one's own choice of fields"},
      {"pagoda --simulate h100x8:training exporter", "without a GPU"},
  };
  add_working_flags(table.flags, options);
  add_kubernetes_flags(table.flags);
  add_other_flags(table.flags);
  return table;
}

Result<ExporterRequest> parse_exporter_flags(std::span<const std::string> arguments,
                                             const std::string& program) {
  ExporterRequest request;
  const FlagTable table = exporter_flag_table(request.options, program);
  const auto environment = parse_flags(table, words_of_environment());
  auto parsed = parse_flags(table, arguments);
  if (!parsed) return Unexpected(std::move(parsed).error());
  request.help = parsed->help;
  if (!environment && !request.help) return Unexpected(named_by_variable(environment.error()));
  if (environment) request.warnings = environment->warnings;
  request.warnings.insert(request.warnings.end(), parsed->warnings.begin(), parsed->warnings.end());
  return request;
}

}  // namespace pagoda::app
