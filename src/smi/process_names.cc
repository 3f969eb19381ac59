#include "smi/process_names.h"

#include "base/format.h"

namespace pagoda::smi {

std::string process_type(const driver::GpuProcess& process) {
  if (process.mps) return "M+C";
  if (process.compute && process.graphics) return "C+G";
  return process.graphics ? "G" : "C";
}

std::string process_name(const driver::GpuProcess& process) {
  if (process.name) return *process.name;
  return format("[{}]", driver::sentence_of(process.name.error().code));
}

std::string cut_on_the_left(const std::string& name, size_t width) {
  return name.size() <= width ? name : "..." + name.substr(name.size() - (width - 3));
}

}  // namespace pagoda::smi
