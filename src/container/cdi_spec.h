// A CDI specification (Container Device Interface, github.com/cncf-tags/container-device-interface, SPEC.md)
// as plain data, and its text in YAML and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::container {

struct CdiDeviceNode {
  std::string path;       // in the container
  std::string host_path;  // where it differs; else empty
  std::string type;       // b c u p; empty: as on the host
  std::optional<int64_t> major, minor;
  std::optional<int64_t> file_mode, uid, gid;
  std::string permissions;  // of r w m; empty: rwm
};

struct CdiMount {
  std::string host_path, container_path;
  std::vector<std::string> options;
  std::string type;
};

struct CdiHook {
  std::string name;  // createContainer, …, as in the OCI runtime specification
  std::string path;
  std::vector<std::string> arguments;  // [0] is the program's name
  std::vector<std::string> environment;
  std::optional<int64_t> timeout_seconds;
};

struct CdiEdits {
  std::vector<std::string> environment;  // NAME=value
  std::vector<CdiDeviceNode> device_nodes;
  std::vector<CdiMount> mounts;
  std::vector<CdiHook> hooks;
  std::vector<int64_t> additional_gids;

  bool empty() const;
  void append(const CdiEdits& other);
};

struct CdiDevice {
  std::string name;
  std::map<std::string, std::string> annotations;
  CdiEdits edits;
};

struct CdiSpec {
  std::string version;  // "0.5.0"
  std::string kind;     // "nvidia.com/gpu"
  std::map<std::string, std::string> annotations;
  std::vector<CdiDevice> devices;
  CdiEdits edits;  // of every container that gets one of the devices

  const CdiDevice* find(std::string_view device) const;
};

enum class CdiFormat { kYaml, kJson };

// Checks everything that the specification demands: names, versions, absolute paths, hook names, unknown
// fields. An error names the place: "devices[2].containerEdits.mounts[0]: hostPath is missing".
Result<CdiSpec> parse_cdi_spec(std::string_view text, CdiFormat format);

// Keys sorted, lists in the order given: the same spec is always the same text.
std::string cdi_spec_text(const CdiSpec& spec, CdiFormat format);

// The smallest version of the specification that allows everything in it.
std::string least_cdi_version(const CdiSpec& spec);

// "nvidia.com/gpu=0" → kind and device; nullopt: not of that form.
struct CdiName {
  std::string kind, device;
};
std::optional<CdiName> parse_cdi_name(std::string_view text);

}  // namespace pagoda::container
