// What the machine's package database says is installed, of Debian's kind (/var/lib/dpkg/status).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/host_root.h"
#include "driver/version_number.h"

namespace pagoda::driver {

struct InstalledPackage {
  std::string name;     // "nvidia-driver-580-open"
  std::string version;  // "580.95.05-0ubuntu1"
  bool whole = true;    // false: unpacked or half-configured, dpkg has work left
  bool must_be_reinstalled =
      false;  // it was cut off while its files were written; dpkg does not go on from there
};

// Sorted by name. Packages whose configuration files alone are left do not count.
std::vector<InstalledPackage> installed_packages(const HostRoot& root);

// "580.95.05-0ubuntu0.24.04.1" → 580.95.05; an epoch is passed over.
std::optional<VersionNumber> upstream_version(std::string_view package_version);

}  // namespace pagoda::driver
