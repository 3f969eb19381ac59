// A .tar.gz of texts, as --collect writes it and --from reads it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pagoda::faults {

class Bundle {
 public:
  // Written beside `path` under another name until close(); readable by its owner only. An existing file is
  // kept: kInvalidArgument.
  static Result<std::unique_ptr<Bundle>> create(const std::string& path);
  // Without close(): nothing is left behind.
  ~Bundle();
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  Status add(const std::string& name, std::string_view text);
  Status close();
  int files() const { return files_; }

 private:
  Bundle() = default;
  Status failure() const;

  std::string path_, partial_path_;
  struct Writer;
  std::unique_ptr<Writer> writer_;
  int files_ = 0;
  bool closed_ = false;
};

}  // namespace pagoda::faults
