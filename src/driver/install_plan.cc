#include "driver/install_plan.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/format.h"
#include "base/subprocess.h"

namespace pagoda::driver {
namespace {

constexpr std::string_view kNvidiaRepository = "https://developer.download.nvidia.com/compute/cuda/repos";
constexpr std::string_view kKeyring = "cuda-keyring_1.1-1_all.deb";
constexpr std::string_view kDebianSource = "/etc/apt/sources.list.d/pagoda-nvidia-driver.list";

std::string without_dots(std::string text) {
  std::erase(text, '.');
  return text;
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

InstallStep command_step(std::string title, std::vector<std::string> command) {
  return {std::move(title), std::move(command), "", "", false};
}

InstallStep apt_install(std::string title, const std::vector<std::string>& packages) {
  std::vector<std::string> command = {"apt-get", "install", "-y", "--no-install-recommends"};
  command.insert(command.end(), packages.begin(), packages.end());
  return command_step(std::move(title), std::move(command));
}

// Ubuntu: "nvidia-driver-580-server-open" → "580-server-open"; empty for other names.
std::string branch_suffix(const std::string& package) {
  constexpr std::string_view kPrefix = "nvidia-driver-";
  return package.starts_with(kPrefix) ? package.substr(kPrefix.size()) : "";
}

void add_repair(const std::vector<std::string>& broken, InstallPlan& plan) {
  if (!broken.empty()) {
    // apt-get --fix-broken does not get past these; the installation below brings them back.
    std::vector<std::string> remove = {"dpkg", "--remove", "--force-remove-reinstreq", "--force-depends"};
    remove.insert(remove.end(), broken.begin(), broken.end());
    plan.steps.push_back(command_step("take out what was cut off while it was unpacked", std::move(remove)));
  }
  plan.steps.push_back(
      command_step("finish what dpkg was doing", {"dpkg", "--configure", "-a", "--force-confold"}));
  // It fails where packages are still to be fetched, which the next step does.
  plan.steps.back().may_fail = true;
  plan.steps.push_back(
      command_step("put half-installed packages right", {"apt-get", "install", "-y", "--fix-broken"}));
}

void add_nvidia_source(const HostFacts& facts, InstallPlan& plan) {
  const std::string distribution = facts.system.id + without_dots(facts.system.version);
  const std::string url = format("{}/{}/x86_64/{}", kNvidiaRepository, distribution, kKeyring);
  const std::string file = format("/tmp/{}", kKeyring);
  plan.steps.push_back(
      command_step("get the key and the address of NVIDIA's apt source", {"curl", "-fsSLo", file, url}));
  plan.steps.push_back(command_step("add that source", {"dpkg", "-i", file}));
}

// Debian keeps the driver in non-free, which a plain installation does not list.
void add_debian_components(const HostFacts& facts, InstallPlan& plan) {
  InstallStep step;
  step.title = "add Debian's components contrib and non-free, where its driver packages are";
  step.file = kDebianSource;
  const std::string& codename = facts.system.codename;
  step.content = format(
      "deb http://deb.debian.org/debian {0} contrib non-free non-free-firmware\n"
      "deb http://deb.debian.org/debian {0}-updates contrib non-free non-free-firmware\n"
      "deb http://security.debian.org/debian-security {0}-security contrib non-free non-free-firmware\n",
      codename);
  plan.steps.push_back(std::move(step));
}

void note_circumstances(const HostFacts& facts, bool signed_modules, InstallPlan& plan) {
  if (facts.system.secure_boot.value_or(false) && !signed_modules) {
    plan.notes.push_back(
        "Secure Boot is on: the module that DKMS builds must be signed with a key that you enrol at the next "
        "start "
        "(the installation asks for a password; the firmware asks for it once)");
  }
  if (facts.modules.is_loaded("nouveau")) {
    plan.notes.push_back("nouveau holds the GPU until the reboot; the driver's package blocks it");
  }
}

std::vector<std::string> packages_to_install(const HostFacts& facts, const DriverPackage& driver,
                                             const std::vector<std::string>& available) {
  std::vector<std::string> packages = {driver.name};
  for (const auto& name : companions(facts, driver)) {
    if (holds(available, name)) packages.push_back(name);
  }
  return packages;
}

Result<DriverPackage> chosen_package(const Recommendation& recommendation, const InstallChoice& choice) {
  if (choice.package.empty()) {
    if (recommendation.best) return *recommendation.best;
    return fail(ErrorCode::kNotFound,
                recommendation.reason.empty() ? "no driver package for this machine" : recommendation.reason);
  }
  std::vector<std::string> names;
  for (const auto& gpu : recommendation.gpus) {
    for (const auto& candidate : gpu.candidates) {
      if (candidate.package.name == choice.package) return candidate.package;
      if (!holds(names, candidate.package.name)) names.push_back(candidate.package.name);
    }
  }
  return fail(ErrorCode::kNotFound,
              format("{} is no driver package for this machine's GPUs{}{}", choice.package,
                     names.empty() ? "" : "; there are: ", fmt::join(names, ", ")),
              "package");
}

Status check_machine(const HostFacts& facts) {
  if (facts.system.wsl) {
    return fail(ErrorCode::kUnsupported,
                "WSL 2: the driver belongs into Windows; one installed here would hide it");
  }
  if (facts.gpus.empty())
    return fail(ErrorCode::kUnsupported,
                "no NVIDIA GPU on the PCI bus: there is nothing to install a driver for");
  return {};
}

}  // namespace

std::vector<std::string> companions(const HostFacts& facts, const DriverPackage& driver) {
  std::vector<std::string> names;
  const std::string suffix = branch_suffix(driver.name);
  const std::string& kernel = facts.system.kernel;
  // Ubuntu signs modules of its own: they load under Secure Boot and need no compiler.
  if (!suffix.empty()) names.push_back(format("linux-modules-nvidia-{}-{}", suffix, kernel));
  names.push_back(format("linux-headers-{}", kernel));
  if (driver.name == "nvidia-driver" && driver.kind == ModuleKind::kProprietary) {
    const bool open = std::all_of(facts.gpus.begin(), facts.gpus.end(),
                                  [](const auto& g) { return g.needs_open_module(); });
    if (open) names.push_back("nvidia-open-kernel-dkms");
  }
  if (!facts.nvswitches.empty()) names.push_back(format("nvidia-fabricmanager-{}", driver.version.major()));
  return names;
}

Result<InstallPlan> plan_install(const HostFacts& facts, const Recommendation& recommendation,
                                 const std::vector<std::string>& available, const InstallChoice& choice) {
  PAGODA_TRY(check_machine(facts));
  if (facts.system.packages == PackageTool::kDnf) return plan_install_with_dnf(facts);
  if (facts.system.packages == PackageTool::kUnknown) {
    return fail(ErrorCode::kUnsupported,
                "neither apt nor dnf is on this system; NVIDIA's .run installer is its own business");
  }
  InstallPlan plan;
  if (choice.repair) add_repair(choice.broken, plan);
  const bool source_first =
      choice.nvidia_source || (!recommendation.best && choice.package.empty() && facts.system.is_debian());
  if (choice.nvidia_source) {
    add_nvidia_source(facts, plan);
  } else if (source_first) {
    add_debian_components(facts, plan);
  }
  plan.steps.push_back(command_step("read the package lists anew", {"apt-get", "update"}));
  std::vector<std::string> packages;
  bool signed_modules = false;
  if (source_first && choice.package.empty()) {
    // What the new source holds is known only when it is there; its metapackages have fixed names.
    const bool proprietary = std::any_of(facts.gpus.begin(), facts.gpus.end(), [](const auto& g) {
      return g.chip != nullptr && g.chip->open_module == OpenModule::kUnsupported;
    });
    packages = {!choice.nvidia_source ? "nvidia-driver" : proprietary ? "cuda-drivers-580" : "nvidia-open"};
    const std::string headers = format("linux-headers-{}", facts.system.kernel);
    if (holds(available, headers)) packages.push_back(headers);
    if (!facts.nvswitches.empty() && choice.nvidia_source) packages.push_back("nvidia-fabricmanager");
  } else {
    PAGODA_ASSIGN(const auto driver, chosen_package(recommendation, choice));
    packages = packages_to_install(facts, driver, available);
    signed_modules = packages.size() > 1 && packages[1].starts_with("linux-modules-nvidia-");
  }
  plan.steps.push_back(apt_install(format("install {}", packages.front()), packages));
  if (!facts.nvswitches.empty() && packages.back().starts_with("nvidia-fabricmanager")) {
    plan.steps.push_back(command_step("start the fabric manager with the system",
                                      {"systemctl", "enable", "nvidia-fabricmanager"}));
  }
  plan.packages = std::move(packages);
  note_circumstances(facts, signed_modules, plan);
  return plan;
}

Result<InstallPlan> plan_install_with_dnf(const HostFacts& facts) {
  PAGODA_TRY(check_machine(facts));
  const std::string release = facts.system.version.substr(0, facts.system.version.find('.'));
  const std::string distribution = (facts.system.id == "fedora" ? "fedora" : "rhel") + release;
  const bool proprietary = std::any_of(facts.gpus.begin(), facts.gpus.end(), [](const auto& g) {
    return g.chip != nullptr && g.chip->open_module == OpenModule::kUnsupported;
  });
  InstallPlan plan;
  plan.steps.push_back(command_step(
      "add NVIDIA's source", {"dnf", "config-manager", "--add-repo",
                              format("{0}/{1}/x86_64/cuda-{1}.repo", kNvidiaRepository, distribution)}));
  plan.steps.push_back(command_step("kernel headers and a compiler, for DKMS",
                                    {"dnf", "install", "-y", format("kernel-devel-{}", facts.system.kernel),
                                     "kernel-headers", "gcc", "make"}));
  if (distribution == "rhel8" || distribution == "rhel9") {
    plan.steps.push_back(command_step("install the driver",
                                      {"dnf", "module", "install", "-y",
                                       proprietary ? "nvidia-driver:580-dkms" : "nvidia-driver:open-dkms"}));
  } else {
    plan.steps.push_back(command_step(
        "install the driver", {"dnf", "install", "-y", proprietary ? "cuda-drivers-580" : "nvidia-open"}));
  }
  note_circumstances(facts, false, plan);
  return plan;
}

std::string plan_text(const InstallPlan& plan) {
  std::string text;
  int number = 0;
  for (const auto& step : plan.steps) {
    text += format("{}. {}\n", ++number, step.title);
    if (step.command.empty()) {
      text += format("   write {}:\n", step.file);
      for (size_t at = 0; at < step.content.size();) {
        const size_t end = step.content.find('\n', at);
        text += format("     {}\n", std::string_view(step.content).substr(at, end - at));
        at = end + 1;
      }
    } else {
      text += format("   {}\n", shell_words(step.command));
    }
  }
  for (const auto& note : plan.notes) text += format("note: {}\n", note);
  if (plan.needs_reboot) text += "Then: reboot, and pagoda driver verify.\n";
  return text;
}

}  // namespace pagoda::driver
