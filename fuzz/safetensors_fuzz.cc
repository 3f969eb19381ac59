// Any bytes as a safetensors file in a folder whose config says that it is quantised: the header's reader,
// then the parts put together, then the first row of every weight, which must lie inside the file. The first
// byte chooses the method.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "kernels/grouped_rows.h"
#include "model/hugging_face/quantised_tensors.h"
#include "model/hugging_face/safetensors.h"

namespace {

using pagoda::model::QuantizationConfig;
using pagoda::model::QuantMethod;

std::string scratch_file() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("safetensors_fuzz." + std::to_string(getpid()))).string();
  static const int registered = std::atexit([] { std::filesystem::remove(path); });
  return registered == 0 ? path : path;
}

QuantizationConfig config_of(uint8_t choice) {
  QuantizationConfig config;
  config.method = static_cast<QuantMethod>(choice % 5);
  config.bits = choice & 8 ? 8 : 4;
  config.group = choice & 16 ? 32 : choice & 32 ? 128 : -1;
  config.zeros_less_one = (choice & 64) != 0;
  config.block_rows = config.block_columns = choice & 128 ? 16 : 0;
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  std::ofstream(scratch_file(), std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  const auto file = pagoda::model::SafetensorsFile::open(scratch_file());
  if (!file) return 0;
  pagoda::model::QuantisedTensors tensors(config_of(data[0]));
  for (const auto& [name, view] : file->tensors()) tensors.take(name, view);
  const auto weights = tensors.assemble();
  if (!weights) return 0;
  for (const auto& [name, view] : *weights) {
    if (view.columns() > 1 << 16) continue;
    pagoda::kernels::GroupedRows rows;
    std::vector<float> values(static_cast<size_t>(view.columns()));
    rows.dequantise(*view.grouped, 0, values.data());
    rows.dequantise(*view.grouped, view.grouped->rows - 1, values.data());
    const auto packing = pagoda::kernels::grouped_packing(*view.grouped);
    __asm__ volatile("" ::"r"(packing.has_value()));  // it counts as used
  }
  return 0;
}
