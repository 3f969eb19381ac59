#include "driver/installed_packages.h"

#include <algorithm>
#include <map>

namespace pagoda::driver {
namespace {

std::string field(std::string_view stanza, std::string_view name) {
  size_t at = 0;
  while (at < stanza.size()) {
    const size_t end = std::min(stanza.find('\n', at), stanza.size());
    const std::string_view line = stanza.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const size_t start = line.find_first_not_of(' ', name.size() + 1);
    return start == std::string_view::npos ? "" : std::string(line.substr(start));
  }
  return "";
}

// Later stanzas of a package replace earlier ones.
using Packages = std::map<std::string, InstalledPackage>;

void read_stanzas(std::string_view all, Packages& packages) {
  for (size_t start = 0; start < all.size();) {
    const size_t end = std::min(all.find("\n\n", start), all.size());
    const std::string_view stanza = all.substr(start, end - start);
    start = end + 2;
    const std::string name = field(stanza, "Package"),
                      status = field(stanza, "Status");  // "install ok installed"
    if (name.empty()) continue;
    packages.erase(name);
    const bool whole = status.ends_with(" installed");
    const bool partly = status.ends_with(" unpacked") || status.ends_with(" half-configured") ||
                        status.ends_with(" half-installed") || status.find(" triggers-") != std::string::npos;
    const bool broken = status.find(" reinstreq ") != std::string::npos;
    if (whole || partly) packages[name] = {name, field(stanza, "Version"), whole && !broken, broken};
  }
}

}  // namespace

std::vector<InstalledPackage> installed_packages(const HostRoot& root) {
  constexpr size_t kLargestStatus = size_t{64} << 20;
  Packages packages;
  read_stanzas(root.read("/var/lib/dpkg/status", kLargestStatus).value_or(""), packages);
  // What dpkg did since it last wrote the whole file, one stanza a file, in the order of their numbers.
  for (const auto& name : root.list("/var/lib/dpkg/updates")) {
    const bool is_number = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) read_stanzas(root.read("/var/lib/dpkg/updates/" + name).value_or(""), packages);
  }
  std::vector<InstalledPackage> sorted;
  for (auto& [name, package] : packages) sorted.push_back(std::move(package));
  return sorted;
}

std::optional<VersionNumber> upstream_version(std::string_view package_version) {
  if (const size_t colon = package_version.find(':'); colon != std::string_view::npos) {
    package_version.remove_prefix(colon + 1);
  }
  size_t end = 0;
  while (end < package_version.size() &&
         (package_version[end] == '.' || (package_version[end] >= '0' && package_version[end] <= '9')))
    ++end;
  return VersionNumber::parse(package_version.substr(0, end));
}

}  // namespace pagoda::driver
