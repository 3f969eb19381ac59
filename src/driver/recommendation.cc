#include "driver/recommendation.h"

#include <algorithm>

#include "base/format.h"
#include "driver/cuda_releases.h"

namespace pagoda::driver {
namespace {

constexpr int kOldestPagodaCapability = 7 * 10 + 5;  // CUDA 13 begins with Turing

bool chip_runs_pagoda(const PciDevice& gpu) {
  return gpu.chip == nullptr ||
         gpu.chip->capability_major * 10 + gpu.chip->capability_minor >= kOldestPagodaCapability;
}

// The better of two that both drive the machine's GPUs.
bool better(const DriverPackage& a, const DriverPackage& b) {
  if (a.preview != b.preview) return !a.preview;
  if (a.version.major() != b.version.major()) return a.version.major() > b.version.major();
  if (a.kind != b.kind) return a.kind == ModuleKind::kOpen;
  if (a.server != b.server) return !a.server;
  if (a.version != b.version) return a.version > b.version;
  return a.name < b.name;
}

// The driver of R580 speaks CUDA 13, which has no code for chips before Turing: 12.9 is the last for those.
std::string cuda_for_old_chips(const std::string& newest) {
  constexpr std::string_view kLast = "12.9";
  const auto version = VersionNumber::parse(newest);
  return version && *version > *VersionNumber::parse(kLast) ? std::string(kLast) : newest;
}

Candidate candidate_of(const DriverPackage& package, const PciDevice& gpu) {
  Candidate candidate;
  candidate.package = package;
  candidate.cuda = newest_cuda(package.version).value_or("");
  if (!chip_runs_pagoda(gpu)) candidate.cuda = cuda_for_old_chips(candidate.cuda);
  candidate.runs_pagoda = chip_runs_pagoda(gpu) && package.version.major() >= kPagodaCudaDriverMajor;
  return candidate;
}

std::vector<PciDevice> kinds_of(const std::vector<PciDevice>& gpus) {
  std::vector<PciDevice> kinds;
  for (const auto& gpu : gpus) {
    const bool seen =
        std::any_of(kinds.begin(), kinds.end(), [&](const auto& k) { return k.device == gpu.device; });
    if (!seen) kinds.push_back(gpu);
  }
  return kinds;
}

// The oldest and newest branch that all GPUs allow; newest 0: today's.
struct Branches {
  int oldest = 0, newest = 0;
};
Branches allowed_branches(const std::vector<PciDevice>& gpus) {
  Branches branches;
  for (const auto& gpu : gpus) {
    if (gpu.chip == nullptr) continue;
    branches.oldest = std::max(branches.oldest, gpu.chip->first_branch);
    if (gpu.chip->last_branch == 0) continue;
    branches.newest =
        branches.newest == 0 ? gpu.chip->last_branch : std::min(branches.newest, gpu.chip->last_branch);
  }
  return branches;
}

void note_what_is_missing(const std::vector<PciDevice>& gpus, Recommendation& result) {
  const Branches branches = allowed_branches(gpus);
  if (branches.newest != 0 && branches.oldest > branches.newest) {
    result.reason = format(
        "no one driver is for all of these GPUs: one needs R{} or later, another ends with R{}; they cannot "
        "work in one machine",
        branches.oldest, branches.newest);
    return;
  }
  const bool mixed_kinds =
      std::any_of(gpus.begin(), gpus.end(), [](const auto& g) { return g.needs_open_module(); }) &&
      std::any_of(gpus.begin(), gpus.end(), [](const auto& g) {
        return g.chip != nullptr && g.chip->open_module == OpenModule::kUnsupported;
      });
  if (mixed_kinds) {
    result.reason =
        "one GPU needs the open kernel module, another cannot work with it; one machine has one module";
    return;
  }
  if (!result.best) {
    result.wanted_branch =
        branches.newest != 0 ? branches.newest : std::max(branches.oldest, kPagodaCudaDriverMajor);
    result.reason = "no package in this machine's apt sources drives this GPU";
    return;
  }
  const bool all_run_pagoda = std::all_of(gpus.begin(), gpus.end(), chip_runs_pagoda);
  if (all_run_pagoda && result.best->version.major() < kPagodaCudaDriverMajor) {
    result.wanted_branch = kPagodaCudaDriverMajor;
    result.reason = format("the newest here is R{}; pagoda's CUDA backend (CUDA {}) needs R{}",
                           result.best->version.major(), kPagodaCuda, kPagodaCudaDriverMajor);
  }
}

}  // namespace

Recommendation recommend(const std::vector<PciDevice>& gpus, const std::vector<DriverPackage>& packages) {
  Recommendation result;
  for (const auto& package : packages) {
    const bool drives_all =
        std::all_of(gpus.begin(), gpus.end(), [&](const auto& gpu) { return supports(package, gpu); });
    if (drives_all && (!result.best || better(package, *result.best))) result.best = package;
  }
  for (const auto& gpu : kinds_of(gpus)) {
    GpuCandidates row{gpu, {}};
    for (const auto& package : packages) {
      if (!supports(package, gpu)) continue;
      row.candidates.push_back(candidate_of(package, gpu));
      row.candidates.back().recommended = result.best && result.best->name == package.name;
    }
    std::stable_partition(row.candidates.begin(), row.candidates.end(),
                          [](const auto& c) { return c.recommended; });
    result.gpus.push_back(std::move(row));
  }
  if (!gpus.empty()) note_what_is_missing(gpus, result);
  return result;
}

std::string recommendation_text(const Recommendation& recommendation, bool annotated) {
  std::string text;
  for (const auto& row : recommendation.gpus) {
    text += format("== {} ==\n", row.gpu.sysfs_path);
    text += format("modalias : {}\n", row.gpu.modalias);
    text += "vendor   : NVIDIA Corporation\n";
    if (!row.gpu.name.empty()) text += format("model    : {}\n", row.gpu.name);
    for (const auto& candidate : row.candidates) {
      text += format("driver   : {} - {} non-free{}", candidate.package.name,
                     candidate.package.third_party ? "third-party" : "distro",
                     candidate.recommended ? " recommended" : "");
      if (annotated) {
        text += format("   ({}, CUDA {}{})", candidate.package.version.text(), candidate.cuda,
                       candidate.runs_pagoda ? "; runs pagoda's CUDA backend" : "; pagoda on the CPU only");
      }
      text += '\n';
    }
    text += "driver   : xserver-xorg-video-nouveau - distro free builtin\n\n";
  }
  return text;
}

}  // namespace pagoda::driver
