#include "smi/version_report.h"

#include "base/format.h"
#include "smi/cell.h"

namespace pagoda::smi {

std::string short_nvml_version(const std::string& version) {
  const size_t cuda = version.find('.');
  if (cuda == std::string::npos) return version;
  const size_t branch = version.find('.', cuda + 1);
  if (branch == std::string::npos) return version.substr(cuda + 1);
  return version.substr(cuda + 1, version.find('.', branch + 1) - cuda - 1);
}

std::string version_report(const driver::DriverReadings& driver, const OutputStyle& style) {
  const std::string version = text(driver.version).text;
  const std::string nvml = driver.nvml_version ? short_nvml_version(*driver.nvml_version) : "N/A";
  const std::string cuda =
      driver.cuda ? format("{}.{}", *driver.cuda / 1000, *driver.cuda % 1000 / 10) : "N/A";
  const auto line = [](std::string_view name, std::string_view value) {
    return format("{:<20}: {}\n", name, value);
  };
  std::string out = line("NVIDIA-SMI version", version) + line("NVML version", nvml);
  if (!style.names_kmd_and_umd()) return out + line("DRIVER version", version) + line("CUDA Version", cuda);
  return out + line("DRIVER version", "Deprecated, see \"KMD version\" instead") +
         line("CUDA version", "Deprecated, see \"CUDA UMD version\" instead") + line("KMD version", version) +
         line("CUDA UMD version", cuda);
}

}  // namespace pagoda::smi
