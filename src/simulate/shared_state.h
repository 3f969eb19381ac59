// What several processes share while they use one simulated machine: a state file, which the library writes
// (when the scenario began, and every setting), and a control file, which people and tests write (faults,
// other values). Both hold an Overlay. Read again whenever they change; written whole, by rename, under a
// lock.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "simulate/scenario.h"

namespace pagoda::simulate {

struct SharedPaths {
  std::string state;
  std::string control;
};

// $PAGODA_SIMULATE_DIR, else $XDG_RUNTIME_DIR/pagoda/simulate, else a folder of this user under /tmp; the
// names are made from the scenario's. The folder is created, for this user alone.
Result<SharedPaths> shared_paths(const std::string& scenario);

// A file that may not be there, with what tells one version from the next.
class WatchedFile {
 public:
  explicit WatchedFile(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  // True when the file is another than at the last call (also: gone, or new).
  bool changed();
  Result<std::string> read() const;  // kNotFound when it is not there

 private:
  struct Version {
    bool exists = false;
    unsigned long long inode = 0;
    long long size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const Version&) const = default;
  };
  std::string path_;
  bool asked_ = false;
  Version seen_;
};

// Reads the overlay (empty when the file is not there), lets `change` alter it, writes it back; one process
// at a time.
Status change_overlay(const std::string& path, const std::function<void(Overlay&)>& change);

std::string to_yaml(const Overlay& overlay);

}  // namespace pagoda::simulate
