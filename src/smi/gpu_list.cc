#include "smi/gpu_list.h"

#include "base/format.h"
#include "smi/json_cell.h"

namespace pagoda::smi {

std::string gpu_line(const driver::GpuSnapshot& gpu) {
  return format("GPU {}: {} (UUID: {})", gpu.index, text(gpu.identity.name).text,
                text(gpu.identity.uuid).text);
}

std::string gpu_list(const driver::MachineSnapshot& machine) {
  std::string out;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    out += gpu_line(gpu) + "\n";
    for (const driver::MigDevice& mig : gpu.mig.devices) {
      out += format("  MIG {:<10}  Device {:>2}: (UUID: {})\n", text(mig.name).text, mig.index,
                    text(mig.uuid).text);
    }
  }
  return out;
}

std::string gpu_list_json(const driver::MachineSnapshot& machine) {
  using Json = nlohmann::ordered_json;
  Json gpus = Json::array();
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    Json row = {{"index", gpu.index}};
    put_cell(row, "name", text(gpu.identity.name));
    put_cell(row, "uuid", text(gpu.identity.uuid));
    for (const driver::MigDevice& mig : gpu.mig.devices) {
      Json device = {{"index", mig.index}};
      put_cell(device, "profile", text(mig.name));
      put_cell(device, "uuid", text(mig.uuid));
      row["mig_devices"].push_back(std::move(device));
    }
    gpus.push_back(std::move(row));
  }
  return Json{{"gpus", gpus}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pagoda::smi
