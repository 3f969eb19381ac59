// The operating system around the driver: distribution, kernel, what it runs on, and whether the firmware
// lets unsigned modules in.
#pragma once

#include <optional>
#include <string>

#include "driver/host_root.h"

namespace pagoda::driver {

enum class PackageTool { kApt, kDnf, kUnknown };

struct HostSystem {
  std::string id, id_like;   // of /etc/os-release: "ubuntu", "debian"
  std::string version;       // "24.04"
  std::string codename;      // "noble"
  std::string name;          // "Ubuntu 24.04.1 LTS"
  std::string kernel;        // "6.8.0-45-generic"
  std::string kernel_build;  // /proc/version
  std::string machine;       // "Dell Inc. XPS 15", of DMI; empty where not told
  std::string hypervisor;    // "KVM", "VMware", "Hyper-V", …; empty on bare metal
  bool wsl = false;
  PackageTool packages = PackageTool::kUnknown;
  std::optional<bool> secure_boot;  // nullopt: no EFI variables
  bool lockdown = false;            // the kernel refuses unsigned modules

  bool is_ubuntu() const { return id == "ubuntu" || id_like.find("ubuntu") != std::string::npos; }
  bool is_debian() const { return id == "debian"; }
};

HostSystem read_host_system(const HostRoot& root);

}  // namespace pagoda::driver
