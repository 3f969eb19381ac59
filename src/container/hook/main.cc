// pagoda-container-hook: what must be done inside a container's root before it starts. Static, so that no
// library of the image is loaded; its environment is thrown away first.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/format.h"
#include "container/hook/container_state.h"
#include "container/hook/library_cache.h"

namespace pagoda::container {
namespace {

struct HookCall {
  std::string action;
  std::vector<std::string> links;  // TARGET::LINK
  std::vector<std::string> folders;
  std::vector<std::string> paths;
  std::string ldconfig = "/sbin/ldconfig";
  unsigned mode = 0;
};

Result<HookCall> read_arguments(const std::vector<std::string>& words) {
  HookCall call;
  if (words.empty())
    return fail(ErrorCode::kInvalidArgument, "which action? create-symlinks, update-ldcache or chmod");
  call.action = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    std::string name = words[i], value;
    if (const size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (++i < words.size()) {
      value = words[i];
    } else {
      return fail(ErrorCode::kInvalidArgument, format("{} needs a value", name));
    }
    if (name == "--link") {
      call.links.push_back(value);
    } else if (name == "--folder") {
      call.folders.push_back(value);
    } else if (name == "--path") {
      call.paths.push_back(value);
    } else if (name == "--mode") {
      call.mode = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 8));
    } else if (name == "--ldconfig-path") {
      call.ldconfig = value.starts_with('@') ? value.substr(1) : value;
    } else {
      return fail(ErrorCode::kInvalidArgument, format("unknown flag {}", name));
    }
  }
  return call;
}

Status make_links(const ConfinedRoot& root, const std::vector<std::string>& links) {
  for (const auto& text : links) {
    const size_t colons = text.find("::");
    if (colons == std::string::npos)
      return fail(ErrorCode::kInvalidArgument, format("--link {}: it must be TARGET::LINK", text));
    const Status made = root.make_link(text.substr(colons + 2), text.substr(0, colons));
    // What the image has in the link's place is the image's own choice.
    if (!made && made.error().code == ErrorCode::kUnsupported) {
      std::fprintf(stderr, "pagoda-container-hook: %s\n", made.error().message.c_str());
    } else if (!made) {
      return made;
    }
  }
  return {};
}

std::string standard_input() {
  std::string text;
  char block[4096];
  constexpr size_t kLargestState = 1 << 20;
  for (ssize_t count = 0;
       text.size() < kLargestState && (count = read(STDIN_FILENO, block, sizeof block)) > 0;) {
    text.append(block, static_cast<size_t>(count));
  }
  return text;
}

Status act(const std::vector<std::string>& words) {
  PAGODA_ASSIGN(const auto call, read_arguments(words));
  const bool known =
      call.action == "create-symlinks" || call.action == "update-ldcache" || call.action == "chmod";
  if (!known) {
    return fail(ErrorCode::kInvalidArgument,
                format("no action '{}'; there are create-symlinks, update-ldcache and chmod", call.action));
  }
  PAGODA_ASSIGN(const auto folder, root_of_state(standard_input()));
  PAGODA_ASSIGN(const auto root, ConfinedRoot::open(folder));
  if (call.action == "create-symlinks") return make_links(root, call.links);
  if (call.action == "update-ldcache") return update_library_cache(root, call.ldconfig, call.folders);
  for (const auto& path : call.paths) PAGODA_TRY(root.change_mode(path, call.mode));
  return {};
}

}  // namespace
}  // namespace pagoda::container

int main(int argc, char** argv) {
  clearenv();
  const pagoda::Status done = pagoda::container::act({argv + 1, argv + std::max(argc, 1)});
  if (done) return 0;
  std::fprintf(stderr, "pagoda-container-hook: %s\n", done.error().message.c_str());
  return 1;
}
