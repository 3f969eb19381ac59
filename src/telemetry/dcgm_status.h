// DCGM's return codes, as far as dcgmi gives them: their sentences, and the exit statuses made from them.
#pragma once

#include <string_view>

namespace pagoda::telemetry {

enum class DcgmStatus : int {
  kOk = 0,
  kBadParameter = -1,
  kBadCommandLine = -2,  // dcgmi's own: the words could not be understood
  kGenericError = -3,
  kNotConfigured = -5,
  kNotSupported = -6,
  kInitError = -7,
  kNvmlError = -8,
  kUnknownField = -13,
  kNoData = -14,
  kNoPermission = -17,
  kGpuIsLost = -18,
  kMaxLimit = -24,
  kLibraryNotFound = -25,
  kDuplicateKey = -26,
  kTestsFailed = -30,  // dcgmi diag: at least one test failed
};

std::string_view sentence_of(DcgmStatus status);

// The code's low eight bits, as the shell sees dcgmi's: 255 for a bad parameter, 226 for a failed diagnostic.
constexpr int exit_status(DcgmStatus status) {
  return static_cast<unsigned char>(static_cast<int>(status));
}

}  // namespace pagoda::telemetry
