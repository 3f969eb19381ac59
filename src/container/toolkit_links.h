// The links by which the toolkit's programs are found under NVIDIA's names, in a folder of their own or
// beside NVIDIA's files, and how they are taken back.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::container {

inline constexpr const char* kToolkitLinks[] = {"nvidia-ctk", "nvidia-container-runtime",
                                                "nvidia-container-cli", "nvidia-cdi-hook",
                                                "nvidia-container-runtime-hook"};

struct LinkPlan {
  std::string link, target;  // link: on the machine, without its root
  bool is_there = false;     // it leads to the target already
  std::string obstacle;  // another file stands there: what it is ("of package nvidia-container-toolkit-base")
  bool is_packaged = false;  // the obstacle: dpkg is told where it goes
  std::string diverted_to;   // with force: where that file is put aside
};

// All below: `folder` on the machine under `root` ("" : this one).

// Looks only. A file that is another's is an obstacle, unless `force`: then it is to be put aside under
// NAME.pagoda-diverted.
std::vector<LinkPlan> plan_links(const std::string& root, const std::string& folder,
                                 const std::string& program, bool force);
// Makes those without obstacle. kUnsupported, before anything is done: an obstacle and no force.
Status make_links(const std::string& root, const std::vector<LinkPlan>& plan);
// Removes links that lead to `program` and puts diverted files back; returns what it did, a line each.
Result<std::vector<std::string>> remove_links(const std::string& root, const std::string& folder,
                                              const std::string& program);

}  // namespace pagoda::container
