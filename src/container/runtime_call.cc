#include "container/runtime_call.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::container {
namespace {

// Global flags of runc and crun that take a value in the next word.
constexpr std::array<std::string_view, 6> kGlobalWithValue = {"--root", "--log",      "--log-format",
                                                              "--criu", "--rootless", "--cgroup-manager"};

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// --name=value or --name value; advances past the value.
std::optional<std::string> value_of(std::span<const std::string> arguments, size_t& i,
                                    std::string_view name) {
  const std::string& word = arguments[i];
  if (word == name) return i + 1 < arguments.size() ? std::optional(arguments[++i]) : std::nullopt;
  if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=')
    return word.substr(name.size() + 1);
  return std::nullopt;
}

}  // namespace

RuntimeCall read_runtime_call(std::span<const std::string> arguments) {
  RuntimeCall call;
  size_t i = 0;
  for (; i < arguments.size() && arguments[i].starts_with('-'); ++i) {
    if (const auto log = value_of(arguments, i, "--log")) {
      call.log_file = *log;
    } else if (const auto style = value_of(arguments, i, "--log-format")) {
      call.log_is_json = *style == "json";
    } else if (std::find(kGlobalWithValue.begin(), kGlobalWithValue.end(), arguments[i]) !=
               kGlobalWithValue.end()) {
      ++i;
    }
  }
  if (i >= arguments.size()) return call;
  call.creates = arguments[i] == "create" || arguments[i] == "run";
  for (++i; i < arguments.size(); ++i) {
    auto bundle = value_of(arguments, i, "--bundle");
    if (!bundle) bundle = value_of(arguments, i, "-b");
    if (bundle) call.bundle = *bundle;
  }
  return call;
}

void log_for_engine(const RuntimeCall& call, const std::string& message) {
  if (call.log_file.empty()) return;
  const int file = open(call.log_file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return;
  const nlohmann::ordered_json line = {{"level", "error"}, {"msg", message}, {"time", timestamp()}};
  const std::string text = call.log_is_json ? line.dump() + "\n"
                                            : format("time=\"{}\" level=error msg={}\n", timestamp(),
                                                     nlohmann::json(message).dump());
  // The log is a courtesy to the engine; the message goes to stderr as well.
  [[maybe_unused]] const ssize_t written = write(file, text.data(), text.size());
  close(file);
}

}  // namespace pagoda::container
