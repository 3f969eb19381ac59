#include "telemetry/dcgm_status.h"

#include <array>

namespace pagoda::telemetry {
namespace {

struct Row {
  DcgmStatus status;
  std::string_view sentence;
};
constexpr std::array kRows = {
    Row{DcgmStatus::kOk, "Success"},
    Row{DcgmStatus::kBadParameter, "Bad parameter passed to function"},
    Row{DcgmStatus::kBadCommandLine, "An error occurred trying to parse the command line."},
    Row{DcgmStatus::kGenericError, "Generic unspecified error"},
    Row{DcgmStatus::kNotConfigured, "Setting not configured"},
    Row{DcgmStatus::kNotSupported, "Feature not supported"},
    Row{DcgmStatus::kInitError, "DCGM initialization error"},
    Row{DcgmStatus::kNvmlError, "NVML error"},
    Row{DcgmStatus::kUnknownField, "Unknown field identifier"},
    Row{DcgmStatus::kNoData, "No data is available"},
    Row{DcgmStatus::kNoPermission, "No permission"},
    Row{DcgmStatus::kGpuIsLost, "GPU is lost"},
    Row{DcgmStatus::kMaxLimit, "Max limit reached for the object"},
    Row{DcgmStatus::kLibraryNotFound, "DCGM library could not be found"},
    Row{DcgmStatus::kDuplicateKey, "Duplicate Key passed"},
    Row{DcgmStatus::kTestsFailed, "Error running tests"},
};

}  // namespace

std::string_view sentence_of(DcgmStatus status) {
  for (const Row& row : kRows) {
    if (row.status == status) return row.sentence;
  }
  return sentence_of(DcgmStatus::kGenericError);
}

}  // namespace pagoda::telemetry
