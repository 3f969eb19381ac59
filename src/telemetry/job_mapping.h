// Which jobs of a batch system run on which GPU: files that its prolog writes, named by the GPU's index, one
// job a line (dcgm-exporter's --hpc-job-mapping-dir).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace pagoda::telemetry {

// GPU index → jobs, in the file's order. Files of other names, and files that vanish while they are read
// (an epilog removes them), are passed over.
using JobsByGpu = std::map<unsigned, std::vector<std::string>>;

// kNotFound: no such folder, or it may not be read.
Result<JobsByGpu> read_job_mapping(const std::string& folder);

}  // namespace pagoda::telemetry
