// Files, folders, archives and standard input as streams of bytes: plain, gzip (an nvidia-bug-report.log.gz),
// tar and tar.gz (what --collect makes), told apart by content.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pagoda::faults {

// Takes the files one after another: begin, its bytes in pieces, end.
class FileReceiver {
 public:
  virtual ~FileReceiver() = default;
  virtual void begin(const std::string& name) = 0;
  // False: the rest of this file is not wanted.
  virtual bool take(std::string_view bytes) = 0;
  // `fault`: why the file ends early; empty: it is whole.
  virtual void end(const std::string& fault) = 0;
};

// `path`: a file, a folder (with all below, in the order of names; hidden ones are left out), or "-".
// An unreadable file among others is told to the receiver; only a path that is not there is an error.
Status read_sources(const std::string& path, FileReceiver& receiver);

}  // namespace pagoda::faults
