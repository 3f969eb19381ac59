// `pagoda smi --watch`: the live view on a full screen, until q or a signal.
#pragma once

#include "app/smi_session.h"

namespace pagoda::app {

// The exit status. Where standard output is no terminal it says so and ends.
int run_smi_watch(const SmiSession& session);

}  // namespace pagoda::app
