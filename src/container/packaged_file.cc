#include "container/packaged_file.h"

#include "base/format.h"
#include "base/subprocess.h"

namespace pagoda::container {
namespace {

std::string folder_of_dpkg(const std::string& root) {
  return root + "/var/lib/dpkg";
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::optional<std::string> answer_of(std::vector<std::string> command) {
  if (!find_program(command.front())) return std::nullopt;
  const auto done = run_captured({std::move(command), {}, ""});
  if (!done || !done->ok()) return std::nullopt;
  return first_line(done->output);
}

Status change_diversion(std::vector<std::string> command) {
  PAGODA_ASSIGN(const auto done, run_captured({std::move(command), {}, ""}));
  if (done.ok()) return {};
  return fail(ErrorCode::kUnavailable, first_line(done.errors));
}

}  // namespace

std::optional<std::string> owning_package(const std::string& root, const std::string& path) {
  const auto answer = answer_of({"dpkg-query", "--admindir=" + folder_of_dpkg(root), "-S", path});
  // "diversion by …" is a line about a diversion, not about an owner.
  if (!answer || answer->starts_with("diversion") || answer->starts_with("local diversion"))
    return std::nullopt;
  return answer->substr(0, answer->find(':'));
}

std::optional<std::string> diverted_name(const std::string& root, const std::string& path) {
  const auto answer = answer_of({"dpkg-divert", "--admindir", folder_of_dpkg(root), "--truename", path});
  return answer && *answer != path ? answer : std::nullopt;
}

Status divert_file(const std::string& root, const std::string& path, const std::string& to) {
  return change_diversion({"dpkg-divert", "--quiet", "--root", root.empty() ? "/" : root, "--local",
                           "--rename", "--divert", to, "--add", path});
}

Status undivert_file(const std::string& root, const std::string& path) {
  return change_diversion(
      {"dpkg-divert", "--quiet", "--root", root.empty() ? "/" : root, "--rename", "--remove", path});
}

}  // namespace pagoda::container
