#include "faults/command_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

extern char** environ;

namespace pagoda::faults {
namespace {

using Clock = std::chrono::steady_clock;

// Starts it with its output on `write_end`, in its own process group; 0: there is no such program.
pid_t start(const std::vector<std::string>& command, int write_end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, write_end, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed == 0 ? pid : 0;
}

// A process that hangs in the kernel cannot be collected: it is left behind rather than waited for.
void collect(pid_t pid) {
  const auto until = Clock::now() + std::chrono::seconds(1);
  while (::waitpid(pid, nullptr, WNOHANG) == 0 && Clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

std::optional<std::string> output_of(const std::vector<std::string>& command, double timeout_s,
                                     size_t most_bytes) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const pid_t pid = start(command, ends[1]);
  ::close(ends[1]);
  std::string output;
  bool ended = pid == 0;
  const auto until = Clock::now() + std::chrono::duration<double>(timeout_s);
  while (!ended && output.size() < most_bytes && Clock::now() < until) {
    pollfd waiting{ends[0], POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (::poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left, 0))) <= 0) break;
    char piece[16384];
    const ssize_t count = ::read(ends[0], piece, sizeof piece);
    ended = count <= 0;
    if (count > 0) output.append(piece, static_cast<size_t>(count));
  }
  ::close(ends[0]);
  if (pid == 0) return std::nullopt;
  if (!ended) {
    ::kill(-pid, SIGKILL);
    output += "\n(ended here: too slow or too long)\n";
  }
  collect(pid);
  return output;
}

}  // namespace pagoda::faults
