// The CDI specs of a machine: every file in /etc/cdi and /var/run/cdi, and which device comes from which.
#pragma once

#include <string>
#include <vector>

#include "container/cdi_spec.h"

namespace pagoda::container {

inline constexpr const char* kCdiFolders[] = {"/etc/cdi", "/var/run/cdi"};  // the later one wins

struct CdiFile {
  std::string path;
  CdiSpec spec;
  size_t priority = 0;  // of its folder
};

struct CdiRegistry {
  std::vector<CdiFile> files;       // that are right, by folder and name
  std::vector<std::string> faults;  // one line each: path and what is wrong

  // Missing folders are no fault.
  static CdiRegistry load(const std::vector<std::string>& folders);

  // "nvidia.com/gpu=0", sorted; devices that two specs of equal priority claim are left out, and are faults.
  std::vector<std::string> device_names() const;

  // All edits for these devices together: each spec's own edits once. kNotFound as "unresolvable CDI devices
  // …".
  Result<CdiEdits> edits_for(const std::vector<std::string>& names) const;

 private:
  const CdiFile* owner(const CdiName& name) const;
};

// Edits of some devices of one spec: the spec's own, then each device's.
Result<CdiEdits> edits_of(const CdiSpec& spec, const std::vector<std::string>& devices);

}  // namespace pagoda::container
