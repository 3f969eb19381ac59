#include "app/gpu_reset.h"

#include <filesystem>

#include "base/format.h"
#include "base/subprocess.h"

namespace pagoda::app {
namespace {

// The driver's own, not a link to this program.
std::optional<std::string> drivers_nvidia_smi() {
  const auto path = find_program("nvidia-smi");
  std::error_code fault;
  if (!path || std::filesystem::equivalent(*path, "/proc/self/exe", fault)) return std::nullopt;
  return path;
}

}  // namespace

std::optional<std::string> reset_gpu(const driver::Gpu& gpu) {
  static constexpr driver::nvml::Call<nvmlReturn_t(nvmlDevice_t)> kReset{{"pagodaSimulatedDeviceReset"}};
  const auto processes = gpu.processes(driver::ProcessKind::kCompute);
  if (processes && !processes->empty())
    return format("GPU {} was not reset: {} processes use it; end them first", gpu.index(),
                  processes->size());
  const auto done = gpu.read(kReset);
  if (done) return std::nullopt;
  if (done.error().code != NVML_ERROR_FUNCTION_NOT_FOUND)
    return format("GPU {} was not reset: {}", gpu.index(), driver::sentence_of(done.error().code));
  const auto smi = drivers_nvidia_smi();
  if (!smi)
    return format(
        "GPU {} was not reset: NVML has no public call for it, and the driver's nvidia-smi is not on the "
        "PATH",
        gpu.index());
  const auto finished =
      run_captured({{*smi, "--gpu-reset", "-i", format("{}", gpu.index())}, std::nullopt, ""});
  if (!finished) return format("GPU {} was not reset: {}", gpu.index(), finished.error().message);
  if (!finished->ok())
    return format("GPU {} was not reset: {}", gpu.index(),
                  finished->output.substr(0, finished->output.find('\n')));
  return std::nullopt;
}

}  // namespace pagoda::app
