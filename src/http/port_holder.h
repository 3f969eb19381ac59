// Who listens on a TCP port of this machine.
#pragma once

#include <optional>
#include <string>

namespace pagoda::http {

struct PortHolder {
  int pid = 0;
  std::string command;  // as in /proc/PID/comm
};

// Reads /proc/net/tcp and tcp6 for the listening socket and /proc/*/fd for its process. nullopt when nobody
// listens there or, without root, when the process is another user's. `proc` is for tests.
std::optional<PortHolder> find_port_holder(int port, const std::string& proc = "/proc");

}  // namespace pagoda::http
