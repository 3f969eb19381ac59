// The machine's libnvidia-ml.so.1, opened by dlopen and looked up by name: no symbol is needed for the
// program to start.
#pragma once

#include <nvml.h>

#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace pagoda::driver {

class NvmlLibrary {
 public:
  // `path` empty: $PAGODA_NVML_LIBRARY, else libnvidia-ml.so.1 where the loader looks, else where
  // distributions and WSL keep it. kNotFound names what was tried.
  static Result<std::shared_ptr<NvmlLibrary>> open(const std::string& path = {});
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // The first of `names` that the library exports, or null. Names are tried in order: newest first.
  void* find(std::span<const char* const> names) const;
  // The file that was loaded, for people; as found by the loader.
  const std::string& path() const { return path_; }

 private:
  NvmlLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  void* handle_;
  std::string path_;
};

}  // namespace pagoda::driver
