// Tells violations of policies as they happen, and does what the policy says: `dcgmi policy --reg`.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "app/dcgmi_session.h"

namespace pagoda::app {

// Until SIGINT or SIGTERM. `places`: GPUs of the session's machine; `policies`: by GPU.
void listen_for_violations(const DcgmiSession& session, const std::vector<size_t>& places,
                           std::map<unsigned, telemetry::Policy> policies);

// "System Validation (Short)" of level 1.
std::string_view validation_words(unsigned level);

}  // namespace pagoda::app
