#include "smi/gpu_field.h"

namespace pagoda::smi {

std::vector<const GpuField*> gpu_fields() {
  std::vector<const GpuField*> all;
  for (const auto rows :
       {identity_fields(), activity_fields(), ecc_fields(), power_fields(), clock_and_fabric_fields()}) {
    for (const GpuField& row : rows) all.push_back(&row);
  }
  return all;
}

const GpuField* find_gpu_field(std::string_view name) {
  for (const GpuField* row : gpu_fields()) {
    if (row->name == name || (!row->alias.empty() && row->alias == name)) return row;
  }
  return nullptr;
}

}  // namespace pagoda::smi
