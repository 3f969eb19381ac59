#include "driver/host_facts.h"

#include <algorithm>

#include "base/format.h"
#include "driver/installed_packages.h"

namespace pagoda::driver {
namespace {

// comm holds the first 15 letters of a program's name.
constexpr std::string_view kPersistencedComm = "nvidia-persiste";
constexpr std::string_view kFabricManagerComm = "nv-fabricmanage";

bool is_process_id(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

DriverServices read_services(const HostRoot& root) {
  DriverServices services;
  services.persistenced_installed = root.exists("/usr/bin/nvidia-persistenced");
  services.fabric_manager_installed = root.exists("/usr/bin/nv-fabricmanager");
  for (const auto& process : root.list("/proc")) {
    if (!is_process_id(process)) continue;
    const std::string comm = root.read_text(format("/proc/{}/comm", process));
    services.persistenced_running |= comm == kPersistencedComm;
    services.fabric_manager_running |= comm == kFabricManagerComm;
  }
  for (const auto& package : installed_packages(root)) {
    if (package.name.starts_with("nvidia-fabricmanager") ||
        package.name.starts_with("nvidia-fabric-manager")) {
      services.fabric_manager_version = upstream_version(package.version);
    }
  }
  return services;
}

}  // namespace

HostFacts read_host_facts(const HostRoot& root) {
  HostFacts facts;
  facts.system = read_host_system(root);
  for (auto& device : find_nvidia_pci_devices(root)) {
    (device.is_gpu() ? facts.gpus : facts.nvswitches).push_back(std::move(device));
  }
  facts.modules = read_kernel_modules(root, facts.system.kernel);
  facts.loaded = read_loaded_driver(root);
  facts.libraries = find_driver_libraries(root);
  facts.libcuda = library_in_use(root, "libcuda.so.1");
  facts.libnvidia_ml = library_in_use(root, "libnvidia-ml.so.1");
  facts.nodes = read_device_nodes(root);
  facts.services = read_services(root);
  return facts;
}

}  // namespace pagoda::driver
