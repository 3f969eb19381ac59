#include "container/cdi_generate.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>

#include "base/format.h"

namespace pagoda::container {
namespace {

constexpr std::array<std::string_view, 4> kControlNodes = {"/dev/nvidia-modeset", "/dev/nvidia-uvm",
                                                           "/dev/nvidia-uvm-tools", "/dev/nvidiactl"};

// A device with the edits that it needs and all names by which it may be asked for.
struct Offer {
  std::vector<std::string> names;      // by the strategies, in their order
  std::vector<std::string> selectors;  // what --device-id may say
  std::vector<CdiDeviceNode> nodes;
};

class Generator {
 public:
  Generator(const driver::HostRoot& dev, const CdiGeneration& how) : dev_(dev), how_(how) {}

  CdiDeviceNode node(const std::string& path) const {
    CdiDeviceNode node;
    node.path = path;
    const std::string& root = how_.dev_root.empty() ? how_.driver_root : how_.dev_root;
    if (root != "/") node.host_path = root + path;
    return node;
  }

  std::vector<CdiDeviceNode> nodes_of(const GpuDevice& gpu) const {
    std::vector<CdiDeviceNode> nodes = {node(format("/dev/nvidia{}", gpu.minor))};
    for (const auto& name : dev_.list(format("/sys/bus/pci/devices/{}/drm", gpu.pci_address))) {
      const std::string path = format("/dev/dri/{}", name);
      if ((name.starts_with("card") || name.starts_with("renderD")) && dev_.exists(path))
        nodes.push_back(node(path));
    }
    return nodes;
  }

  Offer offer(const GpuDevice& gpu) const {
    Offer offer;
    for (const DeviceNames names : how_.names) {
      if (names == DeviceNames::kIndex) offer.names.push_back(format("{}", gpu.index));
      if (names == DeviceNames::kUuid && !gpu.uuid.empty()) offer.names.push_back(gpu.uuid);
      if (names == DeviceNames::kTypeIndex) offer.names.push_back(format("gpu{}", gpu.index));
    }
    offer.selectors = {format("{}", gpu.index), gpu.uuid};
    offer.nodes = nodes_of(gpu);
    return offer;
  }

  Result<Offer> offer(const GpuDevice& gpu, const MigDevice& mig) const {
    Offer offer;
    for (const DeviceNames names : how_.names) {
      if (names == DeviceNames::kIndex) offer.names.push_back(format("{}:{}", gpu.index, mig.index));
      if (names == DeviceNames::kUuid && !mig.uuid.empty()) offer.names.push_back(mig.uuid);
      if (names == DeviceNames::kTypeIndex) offer.names.push_back(format("mig{}:{}", gpu.index, mig.index));
    }
    offer.selectors = {format("{}:{}", gpu.index, mig.index), mig.uuid};
    if (!mig.gpu_capability_minor || !mig.compute_capability_minor) {
      return fail(ErrorCode::kNotFound,
                  format("MIG device {}:{}: its nodes in /dev/nvidia-caps are not known; neither "
                         "/proc/driver/nvidia/capabilities nor /proc/driver/nvidia-caps/mig-minors tells of "
                         "gpu{}/gi{}/ci{}",
                         gpu.index, mig.index, gpu.minor, mig.gpu_instance, mig.compute_instance));
    }
    offer.nodes = nodes_of(gpu);
    offer.nodes.push_back(node(format("/dev/nvidia-caps/nvidia-cap{}", *mig.gpu_capability_minor)));
    offer.nodes.push_back(node(format("/dev/nvidia-caps/nvidia-cap{}", *mig.compute_capability_minor)));
    return offer;
  }

 private:
  const driver::HostRoot& dev_;
  const CdiGeneration& how_;
};

Result<std::vector<Offer>> offers_of(const Generator& generator, const std::vector<GpuDevice>& gpus) {
  std::vector<Offer> offers;
  for (const auto& gpu : gpus) {
    // A GPU in MIG mode is given in parts only.
    if (!gpu.mig_mode) offers.push_back(generator.offer(gpu));
    for (const auto& mig : gpu.migs) {
      PAGODA_ASSIGN(auto offer, generator.offer(gpu, mig));
      offers.push_back(std::move(offer));
    }
  }
  return offers;
}

Result<std::vector<Offer>> chosen(std::vector<Offer> offers, const std::vector<std::string>& only) {
  if (only.empty() || (only.size() == 1 && only[0] == "all")) return offers;
  std::vector<Offer> result;
  for (const auto& wanted : only) {
    const auto found = std::find_if(offers.begin(), offers.end(), [&](const auto& offer) {
      return std::find(offer.selectors.begin(), offer.selectors.end(), wanted) != offer.selectors.end();
    });
    if (found == offers.end()) {
      std::vector<std::string> there;
      for (const auto& offer : offers) there.push_back(offer.selectors.front());
      return fail(ErrorCode::kNotFound,
                  format("no device '{}'; there are: {}", wanted, fmt::join(there, ", ")), "device-id");
    }
    result.push_back(*found);
  }
  return result;
}

bool hook_wanted(const CdiGeneration& how, std::string_view hook) {
  return std::none_of(how.disabled_hooks.begin(), how.disabled_hooks.end(),
                      [&](const auto& off) { return off == hook || off == "all"; });
}

CdiHook hook(const CdiGeneration& how, std::string_view name) {
  CdiHook hook;
  hook.name = "createContainer";
  hook.path = how.hook_path;
  hook.arguments = {how.hook_path.substr(how.hook_path.rfind('/') + 1), std::string(name)};
  // A list that is not empty replaces what the runtime would hand down: nothing of the image's reaches the
  // hook.
  hook.environment = {"LC_ALL=C"};
  return hook;
}

CdiEdits edits_for_all(const driver::HostRoot& dev, const DriverFiles& files, const Generator& generator,
                       const CdiGeneration& how) {
  CdiEdits edits;
  edits.environment = {"NVIDIA_VISIBLE_DEVICES=void"};
  for (const auto path : kControlNodes) {
    if (dev.exists(path)) edits.device_nodes.push_back(generator.node(std::string(path)));
  }
  for (const auto& file : files.files) {
    CdiMount mount;
    mount.container_path = file.path;
    mount.host_path = how.driver_root == "/" ? file.path : how.driver_root + file.path;
    mount.options = {"ro", "nosuid", "nodev", "rbind", "rprivate"};
    if (file.is_socket) mount.options.push_back("noexec");
    edits.mounts.push_back(std::move(mount));
  }
  if (!files.links.empty() && hook_wanted(how, "create-symlinks")) {
    CdiHook links = hook(how, "create-symlinks");
    for (const auto& link : files.links)
      links.arguments.insert(links.arguments.end(), {"--link", link.target + "::" + link.link});
    edits.hooks.push_back(std::move(links));
  }
  if (!files.library_folders.empty() && hook_wanted(how, "update-ldcache")) {
    CdiHook cache = hook(how, "update-ldcache");
    cache.arguments.insert(cache.arguments.end(), {"--ldconfig-path", how.ldconfig_path});
    for (const auto& folder : files.library_folders)
      cache.arguments.insert(cache.arguments.end(), {"--folder", folder});
    edits.hooks.push_back(std::move(cache));
  }
  return edits;
}

CdiEdits with_nodes(std::vector<CdiDeviceNode> nodes) {
  CdiEdits edits;
  edits.device_nodes = std::move(nodes);
  return edits;
}

}  // namespace

Result<CdiSpec> generate_cdi_spec(const driver::HostRoot& root, const driver::HostRoot& dev,
                                  const std::vector<GpuDevice>& gpus, const CdiGeneration& how) {
  if (gpus.empty()) {
    return fail(
        ErrorCode::kNotFound,
        "no GPU that a loaded NVIDIA driver holds: there is nothing to specify (pagoda driver check)");
  }
  if (std::all_of(gpus.begin(), gpus.end(), [](const auto& g) { return g.mig_mode && g.migs.empty(); })) {
    return fail(ErrorCode::kNotFound,
                "every GPU is in MIG mode and none is cut into instances: there is nothing to specify "
                "(nvidia-smi mig -lgip, nvidia-smi mig -cgi PROFILE -C)");
  }
  PAGODA_ASSIGN(const auto files, find_driver_files(root, how.capabilities));
  const Generator generator(dev, how);
  PAGODA_ASSIGN(auto all, offers_of(generator, gpus));
  PAGODA_ASSIGN(const auto offers, chosen(std::move(all), how.only));
  CdiSpec spec;
  spec.kind = format("{}/{}", how.vendor, how.device_class);
  spec.edits = edits_for_all(dev, files, generator, how);
  std::vector<CdiDeviceNode> everything;
  for (const auto& offer : offers) {
    for (const auto& name : offer.names) spec.devices.push_back({name, {}, with_nodes(offer.nodes)});
    for (const auto& node : offer.nodes) {
      const bool there = std::any_of(everything.begin(), everything.end(),
                                     [&](const auto& n) { return n.path == node.path; });
      if (!there) everything.push_back(node);
    }
  }
  if (spec.devices.empty())
    return fail(ErrorCode::kNotFound, "the devices have no names of that kind (UUIDs are not known yet)");
  if (how.all_device) spec.devices.push_back({"all", {}, with_nodes(everything)});
  std::stable_sort(spec.devices.begin(), spec.devices.end(),
                   [](const auto& a, const auto& b) { return a.name < b.name; });
  spec.version = least_cdi_version(spec);
  return spec;
}

}  // namespace pagoda::container
