// The library cache of a container's root, built by the host's own ldconfig.
#pragma once

#include <string>
#include <vector>

#include "container/hook/confined_root.h"

namespace pagoda::container {

// Adds the folders to the root's loader configuration and runs the host's ldconfig on it. That program is
// read on the host before anything of the root is entered, must be static (a dynamic one would load the
// image's libraries), gets an empty environment, and runs with the root as its /: no link in the image leads
// out, and no program of the image runs. A root without a glibc loader (no /etc/ld.so.conf, no
// /etc/ld.so.cache) is left alone.
Status update_library_cache(const ConfinedRoot& root, const std::string& host_ldconfig,
                            const std::vector<std::string>& folders);

}  // namespace pagoda::container
