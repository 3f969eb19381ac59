#include "faults/device_holders.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/format.h"

namespace pagoda::faults {
namespace {

namespace fs = std::filesystem;

// /dev/nvidia0 and its like; nvidiactl and nvidia-uvm are opened by whoever only asks.
bool is_gpu_file(const std::string& target) {
  constexpr std::string_view kPrefix = "/dev/nvidia";
  if (!target.starts_with(kPrefix) || target.size() == kPrefix.size()) return false;
  const std::string_view rest = std::string_view(target).substr(kPrefix.size());
  return rest.find_first_not_of("0123456789") == std::string_view::npos;
}

// The devices of one thread or process; false: it may not be seen.
bool add_devices(const fs::path& folder, std::vector<std::string>& devices) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  if (error) return error != std::errc::permission_denied;
  for (; files != fs::directory_iterator(); files.increment(error)) {
    if (error) break;
    std::error_code no_link;
    const std::string target = fs::read_symlink(files->path(), no_link).string();
    if (is_gpu_file(target) && std::find(devices.begin(), devices.end(), target) == devices.end())
      devices.push_back(target);
  }
  return true;
}

// The state letter of /proc/PID/stat, after the name in parentheses.
char state_of(const std::string& stat) {
  const size_t close = stat.rfind(") ");
  return close == std::string::npos || close + 2 >= stat.size() ? '?' : stat[close + 2];
}

}  // namespace

// "…/docker-4f3c….scope", "/kubepods/…/4f3c…", "libpod-4f3c…": 64 hex digits.
std::string container_of(const std::string& cgroup) {
  size_t run = 0;
  for (size_t i = 0; i <= cgroup.size(); ++i) {
    const bool hex =
        i < cgroup.size() && std::string_view("0123456789abcdef").find(cgroup[i]) != std::string_view::npos;
    if (!hex && run == 64) return cgroup.substr(i - 64, 12);
    run = hex ? run + 1 : 0;
  }
  return {};
}

bool shows_whole_machine(const driver::HostRoot& root) {
  // The first process namespace has this number in every kernel (PROC_PID_INIT_INO).
  return !root.is_this_machine() || root.link_text("/proc/self/ns/pid") == "pid:[4026531836]";
}

Holders find_device_holders(const driver::HostRoot& root) {
  Holders result;
  std::error_code error;
  fs::directory_iterator processes(root.outside("/proc"), error);
  for (; !error && processes != fs::directory_iterator(); processes.increment(error)) {
    const fs::path folder = processes->path();
    const std::string name = folder.filename().string();
    DeviceHolder holder;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), holder.pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    bool visible = add_devices(folder / "fd", holder.devices);
    if (state_of(root.read_text(format("/proc/{}/stat", name))) == 'Z') {
      std::error_code no_threads;
      for (const auto& thread : fs::directory_iterator(folder / "task", no_threads))
        visible = add_devices(thread.path() / "fd", holder.devices) && visible;
      holder.dead = !holder.devices.empty();
    }
    if (!visible) ++result.hidden;
    if (holder.devices.empty()) continue;
    holder.process = root.read_text(format("/proc/{}/comm", name));
    holder.container = container_of(root.read_text(format("/proc/{}/cgroup", name)));
    std::sort(holder.devices.begin(), holder.devices.end());
    result.holders.push_back(std::move(holder));
  }
  result.sees_all = !error && result.hidden == 0 && shows_whole_machine(root);
  std::sort(result.holders.begin(), result.holders.end(),
            [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return result;
}

}  // namespace pagoda::faults
