// The files of the host's driver that a container needs, each with the capability
// (NVIDIA_DRIVER_CAPABILITIES) that asks for it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "driver/host_root.h"

namespace pagoda::container {

enum class Capability { kCompute, kUtility, kVideo, kGraphics, kDisplay, kNgx, kCompat32 };
using Capabilities = std::set<Capability>;

Capabilities all_capabilities();
Capabilities default_capabilities();  // utility, compute

// NVIDIA_DRIVER_CAPABILITIES: a list with commas; "all"; empty means the default. kInvalidArgument names a
// word that is no capability.
Result<Capabilities> parse_capabilities(std::string_view text);

struct DriverFile {
  std::string path;        // on the host, under the driver's root, without links
  bool is_socket = false;  // mounted noexec
};

struct DriverLink {
  std::string link, target;  // "/usr/lib/x86_64-linux-gnu/libcuda.so" → "libcuda.so.1"
};

struct DriverFiles {
  std::string version;                       // of the driver: "580.95.05"
  std::vector<DriverFile> files;             // sorted by path
  std::vector<DriverLink> links;             // beyond those that ldconfig makes from sonames
  std::vector<std::string> library_folders;  // that hold them, sorted
};

// kNotFound: no libcuda under that root.
Result<DriverFiles> find_driver_files(const driver::HostRoot& root, const Capabilities& capabilities);

}  // namespace pagoda::container
