#include "app/smi_session.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/format.h"
#include "smi/version_report.h"

namespace pagoda::app {
namespace {

constexpr std::string_view kNoDriver =
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
    "NVIDIA "
    "driver is installed and running.\n";
constexpr std::string_view kSimulateHint =
    "Without a GPU: `pagoda --simulate h100x8 smi` shows simulated ones.\n";

// The sentence and the exit status for a driver that cannot be used.
int report_no_driver(const driver::NvmlOpenFailure& failure) {
  switch (failure.code) {
    case NVML_ERROR_LIBRARY_NOT_FOUND:
      if (::access("/proc/driver/nvidia/version", F_OK) == 0) {
        fmt::print("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. {}.\n", failure.message);
        return NVML_ERROR_LIBRARY_NOT_FOUND;
      }
      [[fallthrough]];
    case NVML_ERROR_DRIVER_NOT_LOADED:
      fmt::print("{}\n{}", kNoDriver, kSimulateHint);
      return NVML_ERROR_DRIVER_NOT_LOADED;
    default:
      fmt::print("Failed to initialize NVML: {}\n", driver::sentence_of(failure.code));
      if (!failure.library_version.empty()) {
        fmt::print("NVML library version: {}\n", smi::short_nvml_version(failure.library_version));
      }
      return failure.code == NVML_ERROR_UNKNOWN ? 255 : failure.code;
  }
}

std::atomic<bool> g_stop{false};

void stop_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { g_stop = true; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

// Sleeps in short naps, so that a signal ends it soon.
void nap_until(std::chrono::steady_clock::time_point until) {
  constexpr std::chrono::milliseconds kNap(50);
  while (!g_stop && std::chrono::steady_clock::now() < until) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    std::this_thread::sleep_for(std::min(kNap, left + std::chrono::milliseconds(1)));
  }
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin <= list.size()) {
    const size_t comma = std::min(list.find(',', begin), list.size());
    words.push_back(list.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

}  // namespace

tl::expected<SmiSession, int> SmiSession::open(const SmiOptions& options) {
  auto nvml = driver::Nvml::open();
  if (!nvml) return tl::unexpected<int>(report_no_driver(nvml.error()));
  smi::OutputStyle style = smi::style_of(driver::read_driver(*nvml));
  if (!options.style.empty()) {
    const auto named = smi::style_named(options.style);
    if (!named) {
      fmt::print("No style '{}': give a driver branch from R550 on, as R580.\n", options.style);
      return tl::unexpected<int>(NVML_ERROR_INVALID_ARGUMENT);
    }
    style = *named;
  }
  SmiSession session(std::move(*nvml), style);
  if (session.nvml_.gpus().empty()) {
    fmt::print("No devices were found\n");
    return tl::unexpected<int>(NVML_ERROR_NOT_FOUND);
  }
  if (options.ids.empty()) {
    session.gpus_ = session.nvml_.gpus();
  } else {
    for (const std::string& id : split(options.ids)) {
      const auto gpu = session.nvml_.find(id);
      if (!gpu) {
        fmt::print("No devices were found\n");
        return tl::unexpected<int>(NVML_ERROR_NOT_FOUND);
      }
      session.gpus_.push_back(*gpu);
    }
  }
  if (!options.file.empty()) {
    session.file_ = std::fopen(options.file.c_str(), "w");
    if (session.file_ == nullptr) {
      fmt::print("Cannot write to '{}': {}\n", options.file, std::strerror(errno));
      return tl::unexpected<int>(NVML_ERROR_INVALID_ARGUMENT);
    }
  }
  return session;
}

SmiSession::SmiSession(SmiSession&& other) noexcept
    : nvml_(std::move(other.nvml_)),
      style_(other.style_),
      gpus_(std::move(other.gpus_)),
      file_(std::exchange(other.file_, nullptr)) {}

SmiSession::~SmiSession() {
  if (file_ != nullptr) std::fclose(file_);
}

driver::MachineSnapshot SmiSession::read(unsigned sections) const {
  return driver::read_machine(nvml_, sections, gpus_);
}

void SmiSession::print(const std::string& text) const {
  std::FILE* to = file_ == nullptr ? stdout : file_;
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

void SmiSession::repeat(std::chrono::milliseconds interval, int times,
                        const std::function<bool()>& body) const {
  stop_on_signals();
  auto next = std::chrono::steady_clock::now();
  for (int i = 0; (times == 0 || i < times) && !g_stop; ++i) {
    if (i > 0) nap_until(next);
    if (g_stop || !body()) return;
    next = std::max(next + interval, std::chrono::steady_clock::now());
  }
}

int SmiSession::report_lost() const {
  int code = NVML_SUCCESS;
  for (const driver::Gpu& gpu : gpus_) {
    if (gpu.handle()) continue;
    code = gpu.handle().error().code;
    fmt::print("Unable to determine the device handle for GPU{}: {}\n", gpu.index(),
               driver::sentence_of(gpu.handle().error().code));
  }
  return code;
}

}  // namespace pagoda::app
