#include "simulated_machine.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

using pagoda::driver::Nvml;
using pagoda::driver::NvmlOpenFailure;
using pagoda::driver::NvmlOptions;

std::filesystem::path SimulatedMachine::folder_;

namespace {

// By rename, as an editor does it: a reader sees the old file or the new one.
void write(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path fresh = path.string() + ".fresh";
  std::ofstream(fresh) << text;
  std::filesystem::rename(fresh, path);
}

std::filesystem::path file_ending(const std::filesystem::path& folder, const std::string& end) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().string().ends_with(end)) return entry.path();
  }
  return {};
}

}  // namespace

void SimulatedMachine::SetUpTestSuite() {
  folder_ = std::filesystem::temp_directory_path() / ("simulated-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder_ / "state");
  ::setenv("PAGODA_SIMULATE", (folder_ / "machine.yaml").c_str(), 1);
  ::setenv("PAGODA_SIMULATE_DIR", (folder_ / "state").c_str(), 1);
  use("gpus: [{model: h100}]\n");
  open();  // makes the state file, whose name is the library's own
}

void SimulatedMachine::TearDownTestSuite() {
  // The library stays loaded in this process and would look for its files: they go with the last test suite.
  std::ofstream(folder_ / "machine.yaml") << "{pagoda_scenario: 1}";
}

void SimulatedMachine::use(const std::string& yaml) {
  using namespace std::chrono;
  control("{}");
  const auto state = file_ending(folder_ / "state", ".state.yaml");
  const auto now = duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
  if (!state.empty()) write(state, "epoch_us: " + std::to_string(now) + "\n");
  write(folder_ / "machine.yaml", "pagoda_scenario: 1\n" + yaml);
}

void SimulatedMachine::control(const std::string& yaml) {
  const std::string state = file_ending(folder_ / "state", ".state.yaml").string();
  if (state.empty()) return;
  write(state.substr(0, state.size() - std::string("state.yaml").size()) + "control.yaml", yaml);
}

tl::expected<Nvml, NvmlOpenFailure> SimulatedMachine::try_open(std::chrono::milliseconds deadline) {
  NvmlOptions options;
  options.library = SIMULATED_LIBRARY;
  options.call_deadline = deadline;
  return Nvml::open(options);
}

Nvml SimulatedMachine::open(std::chrono::milliseconds deadline) {
  auto nvml = try_open(deadline);
  if (!nvml) {
    ADD_FAILURE() << nvml.error().message;
    std::abort();
  }
  return *nvml;
}
