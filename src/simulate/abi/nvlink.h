// One NVLink of a GPU: its own values where the scenario gives it some (nvlink.links), else those of all
// links.
#pragma once

#include <string_view>

#include "simulate/abi/reply.h"
#include "simulate/key_catalogue.h"

namespace pagoda::simulate {

// `key` without "nvlink.": "state", "error.crc_flit".
Answer link_value(const Reply& reply, unsigned link, std::string_view key);
bool is_link(const Reply& reply, unsigned link);

}  // namespace pagoda::simulate
