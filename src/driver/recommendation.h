// Which driver package a machine should have, and why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/driver_packages.h"
#include "driver/host_facts.h"

namespace pagoda::driver {

struct Candidate {
  DriverPackage package;
  bool recommended = false;
  std::string cuda;          // the newest CUDA that it runs: "13.0"; empty: unknown
  bool runs_pagoda = false;  // pagoda's CUDA backend: R580 or later and a chip from Turing on
};

struct GpuCandidates {
  PciDevice gpu;
  std::vector<Candidate>
      candidates;  // those that drive this GPU; the recommended one first, then newest first
};

struct Recommendation {
  std::vector<GpuCandidates> gpus;    // one entry per kind of GPU (vendor and device id)
  std::optional<DriverPackage> best;  // one package for all of them
  // A driver of this branch is wanted, and no package here has it: NVIDIA's own apt source does.
  std::optional<int> wanted_branch;
  std::string reason;  // of wanted_branch, or of there being no `best`
};

// `packages`: what could be installed. The newest package that drives every GPU wins; a preview only where
// nothing else does; the open module wherever the chip allows it.
Recommendation recommend(const std::vector<PciDevice>& gpus, const std::vector<DriverPackage>& packages);

// As `ubuntu-drivers devices` prints it. `annotated`: each line ends with the CUDA that the driver runs.
std::string recommendation_text(const Recommendation& recommendation, bool annotated);

}  // namespace pagoda::driver
