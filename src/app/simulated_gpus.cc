#include "app/simulated_gpus.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "simulate/scenario.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFlag = "--simulate";
constexpr const char* kLibrary = "libnvidia-ml.so.1";

bool in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Result<std::string> simulated_library_folder() {
  std::error_code fault;
  const fs::path program = fs::read_symlink("/proc/self/exe", fault);
  const fs::path folder = program.parent_path();
  for (const fs::path& place :
       {folder / "simulated", folder.parent_path() / "lib" / "pagoda" / "simulated"}) {
    if (fs::exists(place / kLibrary, fault)) return place.string();
  }
  return fail(
      ErrorCode::kNotFound,
      format("the simulated {} is neither in {}/simulated nor in {}/lib/pagoda/simulated; install the whole "
             "tarball, or build the target simulated_nvml",
             kLibrary, folder.string(), folder.parent_path().string()));
}

bool gpus_are_simulated() {
  return in_environment("PAGODA_SIMULATE") && in_environment("PAGODA_NVML_LIBRARY");
}

Status simulate_gpus(const std::string& scenario) {
  PAGODA_TRY(simulate::load_scenario(scenario));
  PAGODA_ASSIGN(const std::string folder, simulated_library_folder());
  // A file's path must mean the same to a child that works elsewhere.
  std::error_code fault;
  const std::string name =
      simulate::is_scenario_file(scenario) ? fs::absolute(scenario, fault).string() : scenario;
  ::setenv("PAGODA_SIMULATE", name.c_str(), 1);
  ::setenv("PAGODA_NVML_LIBRARY", (folder + "/" + kLibrary).c_str(), 1);
  const std::string others =
      in_environment("LD_LIBRARY_PATH") ? std::string(":") + std::getenv("LD_LIBRARY_PATH") : "";
  ::setenv("LD_LIBRARY_PATH", (folder + others).c_str(), 1);
  return {};
}

Result<std::vector<const char*>> take_simulation(std::span<const char* const> argv) {
  std::vector<const char*> left(argv.begin(), argv.end());
  const std::string_view first = left.size() > 1 ? left[1] : "";
  std::string scenario;
  if (first == kFlag) {
    if (left.size() < 3)
      return fail(ErrorCode::kInvalidArgument,
                  "--simulate wants a scenario, as in --simulate h100x8; `pagoda simulate` lists them");
    scenario = left[2];
    left.erase(left.begin() + 1, left.begin() + 3);
  } else if (first.starts_with(kFlag) && first.size() > kFlag.size() && first[kFlag.size()] == '=') {
    scenario = first.substr(kFlag.size() + 1);
    left.erase(left.begin() + 1);
  } else if (in_environment("PAGODA_SIMULATE") && !in_environment("PAGODA_NVML_LIBRARY")) {
    scenario = std::getenv("PAGODA_SIMULATE");
  } else {
    return left;
  }
  PAGODA_TRY(simulate_gpus(scenario));
  return left;
}

}  // namespace pagoda::app
