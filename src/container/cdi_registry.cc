#include "container/cdi_registry.h"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <set>

#include "base/atomic_file.h"
#include "base/format.h"

namespace pagoda::container {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> spec_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    const auto ending = entry.path().extension();
    if (ending == ".yaml" || ending == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

CdiRegistry CdiRegistry::load(const std::vector<std::string>& folders) {
  CdiRegistry registry;
  for (size_t priority = 0; priority < folders.size(); ++priority) {
    for (const auto& path : spec_files(folders[priority])) {
      const auto text = read_whole_file(path.string());
      if (!text) {
        registry.faults.push_back(text.error().message);
        continue;
      }
      auto spec = parse_cdi_spec(*text, path.extension() == ".json" ? CdiFormat::kJson : CdiFormat::kYaml);
      if (spec) {
        registry.files.push_back({path.string(), std::move(*spec), priority});
      } else {
        registry.faults.push_back(format("{}: {}", path.string(), spec.error().message));
      }
    }
  }
  return registry;
}

const CdiFile* CdiRegistry::owner(const CdiName& name) const {
  const CdiFile* best = nullptr;
  bool disputed = false;
  for (const auto& file : files) {
    if (file.spec.kind != name.kind || file.spec.find(name.device) == nullptr) continue;
    disputed = best != nullptr && best->priority == file.priority;
    best = &file;
  }
  return disputed ? nullptr : best;
}

std::vector<std::string> CdiRegistry::device_names() const {
  std::set<std::string> names;
  for (const auto& file : files) {
    for (const auto& device : file.spec.devices) {
      if (owner({file.spec.kind, device.name}) != nullptr)
        names.insert(format("{}={}", file.spec.kind, device.name));
    }
  }
  return {names.begin(), names.end()};
}

Result<CdiEdits> CdiRegistry::edits_for(const std::vector<std::string>& names) const {
  CdiEdits edits;
  std::set<const CdiFile*> used;
  std::vector<std::string> unknown;
  for (const auto& text : names) {
    const auto name = parse_cdi_name(text);
    const CdiFile* file = name ? owner(*name) : nullptr;
    if (file == nullptr) {
      unknown.push_back(text);
      continue;
    }
    if (used.insert(file).second) edits.append(file->spec.edits);
    edits.append(file->spec.find(name->device)->edits);
  }
  if (unknown.empty()) return edits;
  const auto known = device_names();
  return fail(
      ErrorCode::kNotFound,
      format("unresolvable CDI devices {}; {}", fmt::join(unknown, ", "),
             known.empty()
                 ? std::string("no spec names any: pagoda ctk cdi generate --output /var/run/cdi/nvidia.yaml")
                 : format("there are: {}", fmt::join(known, ", "))));
}

Result<CdiEdits> edits_of(const CdiSpec& spec, const std::vector<std::string>& devices) {
  CdiEdits edits = spec.edits;
  std::set<std::string> nodes;
  for (const auto& name : devices) {
    const CdiDevice* device = spec.find(name);
    if (device == nullptr) {
      std::vector<std::string> there;
      for (const auto& known : spec.devices) there.push_back(known.name);
      return fail(ErrorCode::kNotFound, format("unresolvable CDI devices {}={}; there are: {}", spec.kind,
                                               name, fmt::join(there, ", ")));
    }
    CdiEdits own = device->edits;
    std::erase_if(own.device_nodes, [&](const auto& node) { return !nodes.insert(node.path).second; });
    edits.append(own);
  }
  return edits;
}

}  // namespace pagoda::container
