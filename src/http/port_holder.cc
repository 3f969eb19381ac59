#include "http/port_holder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/format.h"

namespace pagoda::http {
namespace {

namespace fs = std::filesystem;

// Inodes of the sockets that listen on the port, as /proc/PID/fd shows them. A line (proc(5)):
//   sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode ...
void collect_listeners(const std::string& table, int port, std::set<std::string>& links) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the titles
  const std::string wanted_port = format(":{:04X}", port);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    if (fields && state == "0A" && local.ends_with(wanted_port)) links.insert(format("socket:[{}]", inode));
  }
}

bool has_open(const fs::path& process, const std::set<std::string>& links) {
  std::error_code ignored;
  for (fs::directory_iterator fd(process / "fd", ignored), end; !ignored && fd != end;
       fd.increment(ignored)) {
    std::error_code unreadable;
    if (links.contains(fs::read_symlink(fd->path(), unreadable).string())) return true;
  }
  return false;
}

}  // namespace

std::optional<PortHolder> find_port_holder(int port, const std::string& proc) {
  std::set<std::string> links;
  collect_listeners(proc + "/net/tcp", port, links);
  collect_listeners(proc + "/net/tcp6", port, links);
  if (links.empty()) return std::nullopt;
  std::error_code ignored;
  for (fs::directory_iterator entry(proc, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename().string();
    int pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    if (!has_open(entry->path(), links)) continue;
    PortHolder holder{pid, {}};
    std::ifstream comm(entry->path() / "comm");
    std::getline(comm, holder.command);
    return holder;
  }
  return std::nullopt;
}

}  // namespace pagoda::http
