#include <unistd.h>

#include "app/command_words.h"
#include "app/ctk_commands.h"
#include "app/flag_values.h"
#include "base/atomic_file.h"
#include "base/format.h"
#include "container/cdi_registry.h"
#include "driver/host_root.h"

namespace pagoda::app {
namespace {

using namespace container;

std::vector<std::string> default_folders() {
  return {std::begin(kCdiFolders), std::end(kCdiFolders)};
}

Result<std::string> read_input(const std::string& path) {
  return read_whole_file(path.empty() || path == "-" ? "/dev/stdin" : path);
}

CdiFormat format_of(const std::string& path, const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool looks_like_json = first != std::string::npos && text[first] == '{';
  return path.ends_with(".json") || looks_like_json ? CdiFormat::kJson : CdiFormat::kYaml;
}

// Mounts of files and nodes that a spec names and this machine no longer has: the spec is stale.
std::vector<std::string> missing_files(const CdiSpec& spec) {
  std::vector<std::string> missing;
  const auto look = [&](const CdiEdits& edits) {
    for (const auto& mount : edits.mounts) {
      if (access(mount.host_path.c_str(), F_OK) != 0) missing.push_back(mount.host_path);
    }
    for (const auto& node : edits.device_nodes) {
      const std::string& path = node.host_path.empty() ? node.path : node.host_path;
      if (access(path.c_str(), F_OK) != 0) missing.push_back(path);
    }
  };
  look(spec.edits);
  for (const auto& device : spec.devices) look(device.edits);
  return missing;
}

int validate_file(const Invocation& invocation, const std::string& path) {
  const auto text = read_input(path);
  if (!text) return report_error(invocation, text.error());
  const auto spec = parse_cdi_spec(*text, format_of(path, *text));
  if (!spec)
    return report_error(invocation, {spec.error().code, format("{}: {}", path, spec.error().message), ""});
  fmt::print("{}: a spec of {} device{}, version {}\n", path, spec->devices.size(),
             spec->devices.size() == 1 ? "" : "s", spec->version);
  if (const auto missing = missing_files(*spec); !missing.empty()) {
    return report_error(
        invocation, {ErrorCode::kNotFound,
                     format("{} is stale: {} of its files {} not on this machine, {} first; pagoda ctk cdi "
                            "generate --output {} writes it anew",
                            path, missing.size(), missing.size() == 1 ? "is" : "are", missing.front(), path),
                     ""});
  }
  return kExitOk;
}

// One path with its root exchanged; "/" as a root matches every path.
std::string with_root(const std::string& path, std::string from, std::string to) {
  while (from.size() > 1 && from.back() == '/') from.pop_back();
  while (to.size() > 1 && to.back() == '/') to.pop_back();
  const bool everything = from == "/";
  if (!everything && path != from && !path.starts_with(from + "/")) return path;
  const std::string rest = everything ? path : path.substr(from.size());
  return to == "/" ? (rest.empty() ? "/" : rest) : to + rest;
}

void transform(CdiEdits& edits, const std::string& from, const std::string& to, bool in_container) {
  for (auto& mount : edits.mounts) {
    std::string& path = in_container ? mount.container_path : mount.host_path;
    path = with_root(path, from, to);
  }
  for (auto& node : edits.device_nodes) {
    if (in_container) {
      if (node.host_path.empty()) node.host_path = node.path;
      node.path = with_root(node.path, from, to);
    } else {
      node.host_path = with_root(node.host_path.empty() ? node.path : node.host_path, from, to);
    }
    if (node.host_path == node.path) node.host_path.clear();
  }
  if (in_container) return;
  for (auto& hook : edits.hooks) {
    hook.path = with_root(hook.path, from, to);
    for (size_t i = 1; i < hook.arguments.size(); ++i) {
      if (hook.arguments[i - 1] == "--ldconfig-path")
        hook.arguments[i] = with_root(hook.arguments[i], from, to);
    }
  }
}

}  // namespace

int run_cdi_list(const Invocation& invocation) {
  std::vector<std::string> folders = default_folders();
  FlagTable table;
  table.usage = invocation.program + " [flags]";
  table.summary = "The devices that the CDI specs of this machine name.";
  table.flags = {list_row("spec-dir", "DIR", &folders, "where specs lie (default: /etc/cdi /var/run/cdi)")};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const auto registry = CdiRegistry::load(folders);
  for (const auto& fault : registry.faults) fmt::print(stderr, "passed over: {}\n", fault);
  const auto names = registry.device_names();
  fmt::print(stderr, "Found {} CDI device{}\n", names.size(), names.size() == 1 ? "" : "s");
  for (const auto& name : names) fmt::print("{}\n", name);
  return registry.faults.empty() ? kExitOk : kExitFailure;
}

int run_cdi_validate(const Invocation& invocation) {
  std::string file;
  FlagTable table;
  table.usage = invocation.program + " [FILE]";
  table.summary = "Checks one spec, or all of this machine: its form, and whether its files are there.";
  table.positional = "input";
  table.flags = {
      flag_row("input", "FILE", to_text(&file), "the spec (default: all in /etc/cdi and /var/run/cdi)")};
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  if (!file.empty()) return validate_file(invocation, file);
  const auto registry = CdiRegistry::load(default_folders());
  int result = kExitOk;
  for (const auto& fault : registry.faults) {
    report_error(invocation, {ErrorCode::kCorruptData, fault, ""});
    result = kExitFailure;
  }
  for (const auto& entry : registry.files) {
    if (validate_file(invocation, entry.path) != kExitOk) result = kExitFailure;
  }
  return result;
}

int run_cdi_transform_root(const Invocation& invocation) {
  std::string from = "/", to = "/", input, output;
  bool in_container = false;
  FlagTable table;
  table.usage = invocation.program + " --from DIR --to DIR [flags]";
  table.summary = "The same spec with the host's paths under another root.";
  table.flags = {
      flag_row("from", "DIR", to_text(&from), "the root to replace (default: /)"),
      flag_row("to", "DIR", to_text(&to), "by this one (default: /)"),
      flag_row("input", "FILE", to_text(&input), "the spec (default: standard input)"),
      flag_row("output", "FILE", to_text(&output), "where to write it (default: standard output)"),
      flag_row("relative-to", "WHERE",
               to_choice(&in_container, std::vector<std::pair<std::string_view, bool>>{{"host", false},
                                                                                       {"container", true}}),
               "host or container: whose paths (default: host)"),
  };
  const auto outcome = read_flags(table, invocation);
  if (outcome.exit) return *outcome.exit;
  const auto text = read_input(input);
  if (!text) return report_error(invocation, text.error());
  const CdiFormat format_of_text = format_of(input, *text);
  auto spec = parse_cdi_spec(*text, format_of_text);
  if (!spec) return report_error(invocation, spec.error());
  transform(spec->edits, from, to, in_container);
  for (auto& device : spec->devices) transform(device.edits, from, to, in_container);
  spec->version = std::max(spec->version, least_cdi_version(*spec));
  const std::string result = cdi_spec_text(*spec, format_of_text);
  if (output.empty() || output == "-") {
    fmt::print("{}", result);
    return kExitOk;
  }
  const Status written = write_file_atomically(output, result);
  return written ? kExitOk : report_error(invocation, written.error());
}

}  // namespace pagoda::app
