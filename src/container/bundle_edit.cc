#include "container/bundle_edit.h"

#include "base/atomic_file.h"
#include "base/format.h"
#include "container/cdi_generate.h"
#include "container/cdi_registry.h"
#include "container/gpu_search.h"
#include "container/oci_edit.h"
#include "container/structured_text.h"
#include "driver/cuda_releases.h"
#include "driver/pci_devices.h"

namespace pagoda::container {
namespace {

using Json = nlohmann::ordered_json;

// The machine that the devices are on, and the root that the driver's files are under.
struct Machine {
  driver::HostRoot host, driver_root;
};

Result<Machine> look_at(const ToolkitConfig& config) {
  PAGODA_ASSIGN(auto host, driver::HostRoot::open("/"));
  PAGODA_ASSIGN(auto driver_root, driver::HostRoot::open(config.driver_root));
  return Machine{std::move(host), std::move(driver_root)};
}

DriverOffer offer_of(const Machine& machine, const std::string& driver_version) {
  DriverOffer offer;
  offer.driver = driver_version;
  if (const auto version = driver::VersionNumber::parse(driver_version)) {
    offer.cuda = driver::newest_cuda(*version).value_or("");
  }
  for (const auto& device : driver::find_nvidia_pci_devices(machine.driver_root)) {
    if (device.is_gpu() && device.chip != nullptr) offer.architecture = capability_text(*device.chip);
  }
  return offer;
}

Result<CdiEdits> edits_now(const Machine& machine, const GpuRequest& request, const ToolkitConfig& config,
                           const std::string& hook_path) {
  CdiGeneration how;
  how.capabilities = request.capabilities;
  how.driver_root = machine.driver_root.folder();
  how.hook_path = hook_path;
  how.ldconfig_path = config.ldconfig;
  PAGODA_ASSIGN(const auto found, find_gpus(machine.host, machine.driver_root, GpuSource::kAuto));
  PAGODA_ASSIGN(const auto spec,
                generate_cdi_spec(machine.driver_root, machine.driver_root, found.gpus, how));
  return edits_of(spec, request.devices);
}

Result<CdiEdits> edits_in_specs(const GpuRequest& request, const ToolkitConfig& config) {
  std::vector<std::string> names = request.others;
  if (config.mode == "cdi") {
    for (const auto& device : request.devices) names.push_back(format("nvidia.com/gpu={}", device));
  }
  if (names.empty()) return CdiEdits{};
  const auto registry = CdiRegistry::load(config.spec_folders);
  auto edits = registry.edits_for(names);
  if (edits || registry.faults.empty()) return edits;
  Error error = edits.error();
  error.message += "; a spec that is wrong was passed over: " + registry.faults.front();
  return Unexpected(std::move(error));
}

Status add_gpus(Json& container, const GpuRequest& request, const ToolkitConfig& config,
                const std::string& hook_path) {
  PAGODA_ASSIGN(const auto machine, look_at(config));
  const bool driver_files = !request.devices.empty() || request.others.empty();
  if (driver_files && (config.mode != "cdi" || request.devices.empty())) {
    PAGODA_ASSIGN(const auto edits, edits_now(machine, request, config, hook_path));
    PAGODA_TRY(apply_edits(container, edits, machine.driver_root));
  }
  PAGODA_ASSIGN(const auto edits, edits_in_specs(request, config));
  return apply_edits(container, edits, machine.driver_root);
}

Status check_image(const Json& container, const ToolkitConfig& config) {
  if (config.disable_require) return {};
  PAGODA_ASSIGN(const auto machine, look_at(config));
  PAGODA_ASSIGN(const auto files, find_driver_files(machine.driver_root, {}));
  return check_requirements(container, offer_of(machine, files.version));
}

}  // namespace

Status edit_bundle(const std::string& bundle, const ToolkitConfig& config, const std::string& hook_path) {
  const std::string path = bundle + "/config.json";
  PAGODA_ASSIGN(const auto text, read_whole_file(path));
  auto container = parse_json(text);
  if (!container) return fail(ErrorCode::kCorruptData, format("{}: {}", path, container.error().message));
  if (!container->is_object()) return fail(ErrorCode::kCorruptData, format("{}: no JSON object", path));
  try {
    const int legacy = remove_legacy_hooks(*container);
    PAGODA_ASSIGN(const auto request, read_gpu_request(*container, config.rules));
    if (!request.wanted && legacy == 0) return {};
    if (request.wanted) {
      const bool ours = !request.devices.empty() || request.others.empty();
      if (ours) PAGODA_TRY(check_image(*container, config));
      PAGODA_TRY(add_gpus(*container, request, config, hook_path));
    }
  } catch (const Json::exception& fault) {
    return fail(ErrorCode::kCorruptData, format("{}: {}", path, fault.what()));
  }
  return write_file_atomically(path, container->dump());
}

}  // namespace pagoda::container
