#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/format.h"

extern char** environ;

namespace pagoda {
namespace {

constexpr size_t kOutputLimit = size_t{64} << 20;

// Both ends of a pipe, closed at the end and on exec.
struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_read();
    close_write();
  }
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_read() {
    if (read_end >= 0) close(std::exchange(read_end, -1));
  }
  void close_write() {
    if (write_end >= 0) close(std::exchange(write_end, -1));
  }
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const auto& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

Result<pid_t> spawn(const Command& command, const posix_spawn_file_actions_t* actions) {
  auto arguments = pointers(command.arguments);
  std::vector<char*> environment;
  if (command.environment) environment = pointers(*command.environment);
  pid_t child = 0;
  const int fault = posix_spawnp(&child, arguments[0], actions, nullptr, arguments.data(),
                                 command.environment ? environment.data() : environ);
  if (fault == 0) return child;
  return fail(fault == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInternal,
              format("{} cannot be started: {}", command.arguments[0], std::strerror(fault)));
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Takes what is there; false at the end of the stream.
bool drain(int descriptor, std::string& text) {
  std::array<char, 65536> block;
  const ssize_t count = read(descriptor, block.data(), block.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  if (count == 0) return false;
  if (text.size() < kOutputLimit) text.append(block.data(), static_cast<size_t>(count));
  return true;
}

// Feeds the child and reads both outputs at once, so that neither side waits on a full pipe.
void exchange(const std::string& input, Pipe& in, Pipe& out, Pipe& err, Finished& finished) {
  size_t written = 0;
  if (input.empty()) in.close_write();
  while (out.read_end >= 0 || err.read_end >= 0) {
    std::array<pollfd, 3> waits = {pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0},
                                   pollfd{in.write_end, POLLOUT, 0}};
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0 && !drain(out.read_end, finished.output)) out.close_read();
    if (waits[1].revents != 0 && !drain(err.read_end, finished.errors)) err.close_read();
    if (waits[2].revents == 0) continue;
    const ssize_t count = write(in.write_end, input.data() + written, input.size() - written);
    if (count > 0) written += static_cast<size_t>(count);
    if (count < 0 || written == input.size()) in.close_write();
  }
}

bool plain_word(const std::string& word) {
  constexpr std::string_view kSafe = "+-./:=@_,%";
  if (word.empty()) return false;
  for (const char c : word) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!alphanumeric && kSafe.find(c) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

Result<Finished> run_captured(const Command& command) {
  Pipe in, out, err;
  if (!in.open() || !out.open() || !err.open()) {
    return fail(ErrorCode::kResourceExhausted,
                format("no pipe for {}: {}", command.arguments[0], std::strerror(errno)));
  }
  // A child that does not read its input must not end us.
  fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  auto child = spawn(command, &actions);
  posix_spawn_file_actions_destroy(&actions);
  in.close_read();
  out.close_write();
  err.close_write();
  Finished finished;
  if (child) {
    exchange(command.input, in, out, err, finished);
    finished.exit_code = wait_for(*child);
  }
  std::signal(SIGPIPE, before);
  if (!child) return Unexpected(child.error());
  return finished;
}

Result<int> run_visible(const Command& command) {
  PAGODA_ASSIGN(const pid_t child, spawn(command, nullptr));
  return wait_for(child);
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return access(name.c_str(), X_OK) == 0 ? std::optional(name) : std::nullopt;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "/usr/sbin:/usr/bin:/sbin:/bin" : path;
  while (!folders.empty()) {
    const size_t colon = std::min(folders.find(':'), folders.size());
    const std::string candidate = format("{}/{}", folders.substr(0, colon), name);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return std::nullopt;
}

std::string shell_words(const std::vector<std::string>& arguments) {
  std::string line;
  for (const auto& word : arguments) {
    if (!line.empty()) line += ' ';
    if (plain_word(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace pagoda
