// A quantised Hugging Face folder from a 16-bit one: AWQ, GPTQ (with calibration texts) and FP8. Works layer
// by layer, so that memory holds one layer and the calibration's hidden states; each layer is a file of its
// own.
#pragma once

#include <string>

#include "base/result.h"
#include "kernels/compute.h"
#include "quantize/progress.h"

namespace pagoda::quantize {

enum class FolderScheme { kAwq, kGptq, kF8 };

struct FolderOptions {
  FolderScheme scheme = FolderScheme::kGptq;
  int bits = 4;                  // GPTQ: 4 or 8; AWQ: 4
  int group_size = 128;          // columns under one scale; -1: a row
  std::string calibration_text;  // of AWQ and GPTQ
  int samples = 128;             // at most
  int sample_tokens = 512;
};

// `in` must be a Hugging Face folder of 16- or 32-bit weights. `out` is made, or must be empty. kUnsupported
// or kInvalidArgument name the tensor or option that does not fit.
Status write_folder(const std::string& in, const std::string& out, const FolderOptions& options,
                    kernels::Compute& compute, const ProgressSink& progress);

}  // namespace pagoda::quantize
