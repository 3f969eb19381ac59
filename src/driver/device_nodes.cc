#include "driver/device_nodes.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace pagoda::driver {
namespace {

void add_nodes(const HostRoot& root, const std::string& folder, DeviceNodes& nodes) {
  for (const auto& name : root.list(folder)) {
    if (!name.starts_with("nvidia")) continue;
    const std::string path = format("{}/{}", folder, name);
    const auto what = root.kind(path);
    if (!what) continue;
    if (what->type == 'd') {
      add_nodes(root, path, nodes);
    } else if (what->type == 'c') {
      nodes.present.push_back({path, what->major, what->minor, what->mode});
    } else {
      nodes.not_devices.push_back(path);
    }
  }
}

std::map<std::string, int> read_majors(const std::string& text) {
  std::map<std::string, int> majors;
  size_t position = 0;
  while (position < text.size()) {
    const size_t end = std::min(text.find('\n', position), text.size());
    std::string_view line = std::string_view(text).substr(position, end - position);
    position = end + 1;
    if (line.starts_with("Block devices")) break;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    int number = 0;
    const auto [rest, fault] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (fault != std::errc{} || rest == line.data() + line.size()) continue;
    majors[std::string(rest + 1, line.data() + line.size())] = number;
  }
  return majors;
}

}  // namespace

const DeviceNode* DeviceNodes::find(std::string_view path) const {
  const auto node =
      std::find_if(present.begin(), present.end(), [&](const auto& n) { return n.path == path; });
  return node == present.end() ? nullptr : &*node;
}

DeviceNodes read_device_nodes(const HostRoot& root) {
  DeviceNodes nodes;
  add_nodes(root, "/dev", nodes);
  nodes.majors = read_majors(root.read("/proc/devices").value_or(""));
  return nodes;
}

}  // namespace pagoda::driver
