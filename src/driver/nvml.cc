#include "driver/nvml.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace pagoda::driver {
namespace {

constexpr std::string_view kNoDriver =
    "the NVIDIA driver does not answer; check that it is installed and loaded (`pagoda driver check`)";

std::string remedy_for(nvmlReturn_t code) {
  switch (code) {
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
      return "the loaded kernel module and libnvidia-ml are of different driver versions; reboot, or reload "
             "the "
             "module";
    case NVML_ERROR_DRIVER_NOT_LOADED:
      return std::string(kNoDriver);
    case NVML_ERROR_NO_PERMISSION:
      return "no permission to use the NVIDIA devices; run as root, or give the container its devices";
    case NVML_ERROR_GPU_IS_LOST:
      return "a GPU has fallen off the bus; see the kernel log, then reset it or reboot";
    case NVML_ERROR_TIMEOUT:
      return "NVML did not initialise in time: the driver hangs; see the kernel log";
    default:
      return format("NVML did not initialise: {}", sentence_of(code));
  }
}

bool is_number(const std::string& text, unsigned& number) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() && end == text.data() + text.size();
}

}  // namespace

struct Nvml::Core {
  Core(std::shared_ptr<NvmlLibrary> library, const NvmlOptions& chosen)
      : options(chosen), system(std::move(library), std::make_shared<NvmlWorker>(), chosen.call_deadline) {}
  ~Core() {
    if (initialised)
      system.run<std::tuple<>>(nvml::kShutdown, [](auto* function, auto&) { return function(); });
  }

  // The GPUs' set-up takes seconds without persistence mode: all at once, each on its own worker.
  void open_gpus(unsigned count) {
    std::vector<std::unique_ptr<Gpu>> opened(count);
    std::vector<std::thread> threads;
    for (unsigned index = 0; index < count; ++index)
      threads.emplace_back(
          [this, &opened, index] { opened[index] = std::make_unique<Gpu>(open_gpu(index)); });
    for (auto& thread : threads) thread.join();
    for (auto& gpu : opened) gpus.push_back(*gpu);
  }
  Gpu open_gpu(unsigned index) const {
    nvml::Runner runner(system.library(), std::make_shared<NvmlWorker>(), options.call_deadline);
    auto handle = runner.run_within<nvmlDevice_t>(
        options.open_deadline, nvml::kDeviceGetHandleByIndex_v2,
        [index](auto* function, nvmlDevice_t& device) { return function(index, &device); });
    return Gpu(std::move(runner), index, handle);
  }

  NvmlOptions options;
  nvml::Runner system;
  std::vector<Gpu> gpus;
  bool initialised = false;
};

tl::expected<Nvml, NvmlOpenFailure> Nvml::open(const NvmlOptions& options) {
  auto library = NvmlLibrary::open(options.library);
  if (!library)
    return tl::unexpected(NvmlOpenFailure{NVML_ERROR_LIBRARY_NOT_FOUND, library.error().message, {}});
  auto core = std::make_shared<Core>(*library, options);
  Nvml nvml(core);
  const auto init = core->system.run_within<std::tuple<>>(options.open_deadline, nvml::kInit_v2,
                                                          [](auto* function, auto&) { return function(); });
  if (!init) {
    const nvmlReturn_t code = init.error().code;
    const auto version = nvml.text(nvml::kSystemGetNVMLVersion);
    return tl::unexpected(NvmlOpenFailure{code, remedy_for(code), version.value_or("")});
  }
  core->initialised = true;
  const auto count = nvml.read(nvml::kDeviceGetCount_v2);
  if (!count) return tl::unexpected(NvmlOpenFailure{count.error().code, remedy_for(count.error().code), {}});
  core->open_gpus(*count);
  return nvml;
}

const std::vector<Gpu>& Nvml::gpus() const {
  return core_->gpus;
}

const std::string& Nvml::library_path() const {
  return core_->system.library()->path();
}

const nvml::Runner& Nvml::system() const {
  return core_->system;
}

Reading<Gpu> Nvml::find(const std::string& name) const {
  unsigned index = 0;
  if (is_number(name, index) && index < core_->gpus.size()) return core_->gpus[index];
  // A serial number is a number too, but never that small.
  const auto by_name = [&](const auto& call) {
    return system().run<nvmlDevice_t>(
        call, [name](auto* function, nvmlDevice_t& device) { return function(name.c_str(), &device); });
  };
  const bool uuid = name.starts_with("GPU-") || name.starts_with("MIG-");
  Reading<nvmlDevice_t> handle = absent(NVML_ERROR_NOT_FOUND);
  if (uuid) {
    handle = by_name(nvml::kDeviceGetHandleByUUID);
  } else if (name.find(':') != std::string::npos) {
    handle = by_name(nvml::kDeviceGetHandleByPciBusId_v2);
  } else {
    handle = by_name(nvml::kDeviceGetHandleBySerial);
  }
  if (!handle) return tl::unexpected(handle.error());
  for (const Gpu& gpu : core_->gpus) {
    if (gpu.handle() && *gpu.handle() == *handle) return gpu;
  }
  for (const Gpu& gpu : core_->gpus) {
    if (const auto children = gpu.mig_devices()) {
      for (const Gpu& child : *children) {
        if (child.handle() && *child.handle() == *handle) return child;
      }
    }
  }
  return absent(NVML_ERROR_NOT_FOUND);
}

}  // namespace pagoda::driver
