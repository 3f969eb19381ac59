#include "driver/host_system.h"

#include <array>
#include <map>

#include "base/format.h"

namespace pagoda::driver {
namespace {

// The EFI global variable; four bytes of attributes, then the value.
constexpr std::string_view kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

struct HypervisorMark {
  std::string_view vendor, name;  // of DMI's sys_vendor or product_name
};
constexpr std::array kHypervisors = {
    HypervisorMark{"QEMU", "KVM"},       HypervisorMark{"KVM", "KVM"},
    HypervisorMark{"VMware", "VMware"},  HypervisorMark{"Microsoft Corporation", "Hyper-V"},
    HypervisorMark{"Xen", "Xen"},        HypervisorMark{"innotek", "VirtualBox"},
    HypervisorMark{"Amazon EC2", "KVM"}, HypervisorMark{"Google", "KVM"},
    HypervisorMark{"OpenStack", "KVM"},  HypervisorMark{"Red Hat", "KVM"},
};

std::map<std::string, std::string, std::less<>> read_os_release(std::string_view text) {
  std::map<std::string, std::string, std::less<>> fields;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || line[0] == '#') continue;
    std::string_view value = line.substr(equals + 1);
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0]) {
      value = value.substr(1, value.size() - 2);
    }
    fields[std::string(line.substr(0, equals))] = value;
  }
  return fields;
}

void read_distribution(const HostRoot& root, HostSystem& system) {
  auto text = root.read("/etc/os-release");
  if (!text) text = root.read("/usr/lib/os-release");
  auto fields = read_os_release(text.value_or(""));
  system.id = fields["ID"];
  system.id_like = fields["ID_LIKE"];
  system.version = fields["VERSION_ID"];
  system.codename = fields["VERSION_CODENAME"];
  system.name = fields["PRETTY_NAME"];
  if (root.exists("/usr/bin/apt-get")) {
    system.packages = PackageTool::kApt;
  } else if (root.exists("/usr/bin/dnf")) {
    system.packages = PackageTool::kDnf;
  } else if (system.is_debian() || system.is_ubuntu()) {
    system.packages = PackageTool::kApt;
  } else if (system.id_like.find("rhel") != std::string::npos || system.id == "fedora" ||
             system.id == "rhel") {
    system.packages = PackageTool::kDnf;
  }
}

void read_platform(const HostRoot& root, HostSystem& system) {
  const std::string vendor = root.read_text("/sys/class/dmi/id/sys_vendor");
  const std::string product = root.read_text("/sys/class/dmi/id/product_name");
  system.machine = vendor.empty() ? product : format("{} {}", vendor, product);
  const bool guest = root.read("/proc/cpuinfo").value_or("").find(" hypervisor") != std::string::npos;
  if (!guest || system.wsl) return;
  system.hypervisor = "a hypervisor";
  for (const auto& mark : kHypervisors) {
    if (vendor.find(mark.vendor) != std::string::npos || product.find(mark.vendor) != std::string::npos) {
      system.hypervisor = mark.name;
      return;
    }
  }
}

}  // namespace

HostSystem read_host_system(const HostRoot& root) {
  HostSystem system;
  read_distribution(root, system);
  system.kernel = root.read_text("/proc/sys/kernel/osrelease");
  system.kernel_build = root.read_text("/proc/version");
  system.wsl = system.kernel_build.find("microsoft") != std::string::npos ||
               system.kernel.find("microsoft") != std::string::npos;
  read_platform(root, system);
  if (const auto variable = root.read(kSecureBoot); variable && variable->size() >= 5) {
    system.secure_boot = (*variable)[4] == 1;
  }
  const std::string lockdown = root.read_text("/sys/kernel/security/lockdown");
  system.lockdown = lockdown.find("[integrity]") != std::string::npos ||
                    lockdown.find("[confidentiality]") != std::string::npos;
  return system;
}

}  // namespace pagoda::driver
