// `topo -p2p`: which GPUs reach each other's memory, and by what means.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "driver/nvml.h"

namespace pagoda::smi {

// "r" read, "w" write, "n" NVLink, "a" atomics, "p" PCIe: nvmlGpuP2PCapsIndex_t. kInvalidArgument: none of
// them.
Result<nvmlGpuP2PCapsIndex_t> read_p2p_capability(const std::string& letter);

// Of these GPUs, each to each: by row.
using P2pStatuses = std::vector<std::vector<driver::Reading<nvmlGpuP2PStatus_t>>>;
P2pStatuses read_p2p(const std::vector<driver::Gpu>& gpus, nvmlGpuP2PCapsIndex_t capability);

// `indices`: of the GPUs, as in `statuses`.
std::string p2p_matrix(const std::vector<unsigned>& indices, const P2pStatuses& statuses);
std::string p2p_json(const std::vector<unsigned>& indices, const P2pStatuses& statuses);

}  // namespace pagoda::smi
