// `pagoda doctor --watch`: the daemon. Examines the machine again and again, tells what appears, changes and
// clears on standard output, in the faults file and to the webhook.
#pragma once

#include "app/doctor_options.h"

namespace pagoda::app {

// Until SIGTERM or SIGINT; then 0. 3: it could not begin.
int run_doctor_watch(const DoctorOptions& options);

}  // namespace pagoda::app
