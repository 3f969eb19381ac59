// The driver's libraries in user space, by the files that carry its version in their names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/host_root.h"
#include "driver/version_number.h"

namespace pagoda::driver {

struct DriverLibrary {
  std::string path;  // "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", without links
  std::string name;  // "libcuda"
  VersionNumber version;
};

// Folders where the loader of that machine looks: multiarch ones, lib64, WSL's, and those of
// /etc/ld.so.conf.d.
std::vector<std::string> library_folders(const HostRoot& root);

// Every lib*.so.<driver version> of NVIDIA's driver in those folders, sorted by path; several versions may be
// there.
std::vector<DriverLibrary> find_driver_libraries(const HostRoot& root);

// Where libX.so.N leads: the version that programs get. nullopt: the link is missing.
std::optional<DriverLibrary> library_in_use(const HostRoot& root, std::string_view soname);

// Names of the driver's libraries that carry its version, as NVIDIA's packages ship them.
std::span<const std::string_view> driver_library_names();

}  // namespace pagoda::driver
