#include "container/toolkit_links.h"

#include <filesystem>

#include "base/format.h"
#include "base/subprocess.h"

namespace pagoda::container {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kDiverted = ".pagoda-diverted";

bool leads_to(const fs::path& link, const std::string& program) {
  std::error_code fault;
  return fs::is_symlink(fs::symlink_status(link, fault)) && fs::read_symlink(link, fault) == program;
}

std::string owner_of(const std::string& path) {
  if (!find_program("dpkg")) return "another's file";
  const auto done = run_captured({{"dpkg", "-S", path}, {}, ""});
  if (!done || !done->ok()) return "another's file";
  return format("of package {}", done->output.substr(0, done->output.find(':')));
}

Unexpected filesystem_fault(const std::string& path, const std::error_code& fault) {
  return fail(ErrorCode::kUnavailable, format("{}: {}", path, fault.message()));
}

}  // namespace

std::vector<LinkPlan> plan_links(const std::string& folder, const std::string& program, bool force) {
  std::vector<LinkPlan> plan;
  for (const auto* name : kToolkitLinks) {
    LinkPlan row{format("{}/{}", folder, name), program, false, "", ""};
    std::error_code fault;
    if (leads_to(row.link, program)) {
      row.is_there = true;
    } else if (fs::exists(fs::symlink_status(row.link, fault))) {
      row.obstacle = owner_of(row.link);
      if (force) row.diverted_to = row.link + std::string(kDiverted);
    }
    plan.push_back(std::move(row));
  }
  return plan;
}

Status make_links(const std::vector<LinkPlan>& plan) {
  for (const auto& row : plan) {
    if (!row.obstacle.empty() && row.diverted_to.empty()) {
      return fail(ErrorCode::kUnsupported, format("{} is there, {}; nothing was changed. --force puts it "
                                                  "aside and uninstall puts it back; or choose "
                                                  "another folder with --toolkit-dir",
                                                  row.link, row.obstacle));
    }
  }
  for (const auto& row : plan) {
    if (row.is_there) continue;
    std::error_code fault;
    fs::create_directories(fs::path(row.link).parent_path(), fault);
    if (!row.diverted_to.empty()) {
      if (fs::exists(row.diverted_to)) {
        return fail(
            ErrorCode::kUnsupported,
            format("{} is there already: an earlier file is put aside under that name", row.diverted_to));
      }
      fs::rename(row.link, row.diverted_to, fault);
      if (fault) return filesystem_fault(row.link, fault);
    }
    fs::create_symlink(row.target, row.link, fault);
    if (fault) return filesystem_fault(row.link, fault);
  }
  return {};
}

Result<std::vector<std::string>> remove_links(const std::string& folder, const std::string& program) {
  std::vector<std::string> done;
  for (const auto* name : kToolkitLinks) {
    const std::string link = format("{}/{}", folder, name);
    std::error_code fault;
    if (leads_to(link, program)) {
      fs::remove(link, fault);
      if (fault) return filesystem_fault(link, fault);
      done.push_back(format("removed {}", link));
    }
    const std::string diverted = link + std::string(kDiverted);
    if (!fs::exists(fs::symlink_status(diverted, fault)) || fs::exists(fs::symlink_status(link, fault)))
      continue;
    fs::rename(diverted, link, fault);
    if (fault) return filesystem_fault(link, fault);
    done.push_back(format("put {} back", link));
  }
  return done;
}

}  // namespace pagoda::container
