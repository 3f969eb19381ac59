#include "container/toolkit_links.h"

#include <filesystem>

#include "base/format.h"
#include "container/packaged_file.h"

namespace pagoda::container {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kDiverted = ".pagoda-diverted";

bool leads_to(const fs::path& link, const std::string& program) {
  std::error_code fault;
  return fs::is_symlink(fs::symlink_status(link, fault)) && fs::read_symlink(link, fault) == program;
}

bool is_there(const std::string& path) {
  std::error_code fault;
  return fs::exists(fs::symlink_status(path, fault));
}

Unexpected filesystem_fault(const std::string& path, const std::error_code& fault) {
  return fail(ErrorCode::kUnavailable, format("{}: {}", path, fault.message()));
}

Status put_aside(const std::string& root, const LinkPlan& row) {
  if (is_there(root + row.diverted_to)) {
    return fail(
        ErrorCode::kUnsupported,
        format("{} is there already: an earlier file is put aside under that name", root + row.diverted_to));
  }
  if (row.is_packaged) return divert_file(root, row.link, row.diverted_to);
  std::error_code fault;
  fs::rename(root + row.link, root + row.diverted_to, fault);
  if (fault) return filesystem_fault(root + row.link, fault);
  return {};
}

Status put_back(const std::string& root, const std::string& link, const std::string& diverted) {
  if (diverted_name(root, link) == diverted) return undivert_file(root, link);
  std::error_code fault;
  fs::rename(root + diverted, root + link, fault);
  if (fault) return filesystem_fault(root + link, fault);
  return {};
}

}  // namespace

std::vector<LinkPlan> plan_links(const std::string& root, const std::string& folder,
                                 const std::string& program, bool force) {
  std::vector<LinkPlan> plan;
  for (const auto* name : kToolkitLinks) {
    LinkPlan row;
    row.link = format("{}/{}", folder, name);
    row.target = program;
    if (leads_to(root + row.link, program)) {
      row.is_there = true;
    } else if (is_there(root + row.link)) {
      const auto package = owning_package(root, row.link);
      row.is_packaged = package.has_value();
      row.obstacle = package ? format("of package {}", *package) : "another's file";
      if (force) row.diverted_to = row.link + std::string(kDiverted);
    }
    plan.push_back(std::move(row));
  }
  return plan;
}

Status make_links(const std::string& root, const std::vector<LinkPlan>& plan) {
  for (const auto& row : plan) {
    if (!row.obstacle.empty() && row.diverted_to.empty()) {
      return fail(ErrorCode::kUnsupported, format("{} is there, {}; nothing was changed. --force puts it "
                                                  "aside and uninstall puts it back; or choose "
                                                  "another folder with --toolkit-dir",
                                                  root + row.link, row.obstacle));
    }
  }
  for (const auto& row : plan) {
    if (row.is_there) continue;
    std::error_code fault;
    fs::create_directories(fs::path(root + row.link).parent_path(), fault);
    if (!row.diverted_to.empty()) PAGODA_TRY(put_aside(root, row));
    fs::create_symlink(row.target, root + row.link, fault);
    if (fault) return filesystem_fault(root + row.link, fault);
  }
  return {};
}

Result<std::vector<std::string>> remove_links(const std::string& root, const std::string& folder,
                                              const std::string& program) {
  std::vector<std::string> done;
  for (const auto* name : kToolkitLinks) {
    const std::string link = format("{}/{}", folder, name);
    if (leads_to(root + link, program)) {
      std::error_code fault;
      fs::remove(root + link, fault);
      if (fault) return filesystem_fault(root + link, fault);
      done.push_back(format("removed {}", root + link));
    }
    const std::string diverted = link + std::string(kDiverted);
    if (!is_there(root + diverted) || is_there(root + link)) continue;
    PAGODA_TRY(put_back(root, link, diverted));
    done.push_back(format("put {} back", root + link));
  }
  return done;
}

}  // namespace pagoda::container
