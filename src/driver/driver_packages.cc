#include "driver/driver_packages.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/subprocess.h"
#include "driver/installed_packages.h"

namespace pagoda::driver {
namespace {

// Ubuntu's numbered metapackages; Debian's own, among them those of legacy branches; NVIDIA's for its own
// source.
constexpr std::string_view kNamePattern =
    "^(nvidia-driver(-[0-9]+)?(-server)?(-open)?|nvidia-tesla-[0-9]+-driver|nvidia-legacy-[0-9]+xx-driver|"
    "nvidia-open(-[0-9]+)?|cuda-drivers(-[0-9]+)?)$";

constexpr std::array<std::string_view, 4> kThirdPartyHosts = {
    "ppa.launchpad", "developer.download.nvidia.com", "nvidia.github.io", "file:"};

std::vector<std::string> apt_cache_words(const HostRoot& root, std::vector<std::string> words) {
  std::vector<std::string> command;
  // A root that has an apt of its own is asked through that: its sources may be files that only it sees.
  const bool own_apt = !root.is_this_machine() && geteuid() == 0 && root.exists("/usr/bin/apt-cache");
  if (own_apt) command = {"chroot", root.folder()};
  command.insert(command.end(),
                 {"apt-cache", "-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="});
  if (!root.is_this_machine() && !own_apt) {
    for (const auto& option : {format("Dir={}/", root.folder()),
                               format("Dir::State::status={}/var/lib/dpkg/status", root.folder())}) {
      command.insert(command.end(), {"-o", option});
    }
  }
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

Result<std::string> apt_cache(const HostRoot& root, std::vector<std::string> words) {
  if (!find_program("apt-cache")) {
    return fail(ErrorCode::kUnsupported, "apt-cache is not on this machine; candidates are read by it only");
  }
  PAGODA_ASSIGN(const auto done, run_captured({apt_cache_words(root, std::move(words)), {}, ""}));
  // It ends with 100 where one of several names is unknown; what it found is printed all the same.
  if (done.exit_code != 0 && done.output.empty() &&
      done.errors.find("No packages found") == std::string::npos) {
    return fail(ErrorCode::kUnavailable,
                format("apt-cache: {}", done.errors.substr(0, done.errors.find('\n'))));
  }
  return done.output;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "nvidia(pci:v000010DEd00002204sv*…, pci:…), other(…)" → the patterns.
std::vector<std::string> read_modaliases(std::string_view text) {
  std::vector<std::string> patterns;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(",()"), text.size());
    std::string_view word = text.substr(0, end);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (word.starts_with("pci:")) patterns.emplace_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return patterns;
}

void take_field(DriverPackage& package, std::string_view name, std::string_view value) {
  if (name == "Package") package.name = value;
  if (name == "Version") package.package_version = value;
  if (name == "Modaliases") package.modaliases = read_modaliases(value);
  if (name == "Support") package.preview = value == "Beta" || value == "NFB";
  if (name == "APT-Sources") {
    package.third_party = std::any_of(kThirdPartyHosts.begin(), kThirdPartyHosts.end(),
                                      [&](auto host) { return value.find(host) != std::string_view::npos; });
  }
}

bool known_name(std::string_view name) {
  return name.starts_with("nvidia-driver") || name.starts_with("nvidia-tesla-") ||
         name.starts_with("nvidia-legacy-") || name.starts_with("nvidia-open") ||
         name.starts_with("cuda-drivers");
}

// False: a version that is no driver's, as of a package that only pulls in another.
bool read_version(DriverPackage& package) {
  auto version = upstream_version(package.package_version);
  if (!version || version->major() < 100) return false;
  package.version = *version;
  package.server = package.name.find("-server") != std::string::npos;
  const bool open = package.name.find("-open") != std::string::npos;
  package.kind = open ? ModuleKind::kOpen : ModuleKind::kProprietary;
  return true;
}

}  // namespace

std::vector<DriverPackage> read_driver_stanzas(std::string_view text) {
  std::vector<DriverPackage> packages;
  DriverPackage package;
  const auto finish = [&] {
    if (known_name(package.name) && read_version(package)) packages.push_back(package);
    package = {};
  };
  for (const auto line : lines_of(text)) {
    const size_t colon = line.find(": ");
    if (line.empty()) finish();
    if (line.empty() || line[0] == ' ' || colon == std::string_view::npos) continue;
    take_field(package, line.substr(0, colon), line.substr(colon + 2));
  }
  finish();
  std::sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) {
    if (a.version.major() != b.version.major()) return a.version.major() > b.version.major();
    return a.name < b.name;
  });
  packages.erase(std::unique(packages.begin(), packages.end(),
                             [](const auto& a, const auto& b) {
                               return a.name == b.name && a.package_version == b.package_version;
                             }),
                 packages.end());
  return packages;
}

Result<std::vector<DriverPackage>> find_driver_packages(const HostRoot& root, const HostSystem& system) {
  if (system.packages != PackageTool::kApt) {
    return fail(ErrorCode::kUnsupported, format("{}: packages are looked up with apt only",
                                                system.name.empty() ? "this system" : system.name));
  }
  PAGODA_ASSIGN(const auto found, apt_cache(root, {"--names-only", "search", std::string(kNamePattern)}));
  std::vector<std::string> show = {"show", "--no-all-versions"};
  for (const auto line : lines_of(found)) {
    const std::string name(line.substr(0, line.find(' ')));
    if (!name.empty()) show.push_back(name);
  }
  if (show.size() == 2) return std::vector<DriverPackage>{};
  PAGODA_ASSIGN(const auto stanzas, apt_cache(root, show));
  return read_driver_stanzas(stanzas);
}

Result<std::vector<std::string>> installable(const HostRoot& root, const std::vector<std::string>& names) {
  std::vector<std::string> words = {"policy"};
  words.insert(words.end(), names.begin(), names.end());
  PAGODA_ASSIGN(const auto text, apt_cache(root, words));
  std::vector<std::string> known;
  std::string current;
  for (const auto line : lines_of(text)) {
    if (!line.empty() && line[0] != ' ') current = line.substr(0, line.find(':'));
    if (line.starts_with("  Candidate: ") && line != "  Candidate: (none)") known.push_back(current);
  }
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result),
               [&](const auto& name) { return std::find(known.begin(), known.end(), name) != known.end(); });
  return result;
}

bool right_kind(const DriverPackage& package, const PciDevice& gpu) {
  if (package.kind == ModuleKind::kOpen) {
    return gpu.chip == nullptr || gpu.chip->open_module != OpenModule::kUnsupported;
  }
  return !gpu.needs_open_module();
}

bool supports(const DriverPackage& package, const PciDevice& gpu) {
  if (!right_kind(package, gpu)) return false;
  if (!package.modaliases.empty() && !gpu.modalias.empty()) {
    return std::any_of(package.modaliases.begin(), package.modaliases.end(), [&](const auto& pattern) {
      return fnmatch(pattern.c_str(), gpu.modalias.c_str(), 0) == 0;
    });
  }
  if (gpu.chip == nullptr) return true;
  const int branch = package.version.major();
  return branch >= gpu.chip->first_branch && (gpu.chip->last_branch == 0 || branch <= gpu.chip->last_branch);
}

}  // namespace pagoda::driver
