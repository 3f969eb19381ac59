// The diagnostic's tests, run; for `dcgmi diag`, and for a policy's validation.
#pragma once

#include <vector>

#include "app/dcgmi_session.h"
#include "telemetry/hardware_tests.h"

namespace pagoda::app {

// `places`: GPUs of the session's machine; `level`: 1 to 3. What cannot run here is in it, skipped, with the
// reason.
std::vector<telemetry::DiagnosticTest> run_dcgmi_tests(const DcgmiSession& session,
                                                       const std::vector<size_t>& places, unsigned level,
                                                       const telemetry::HardwareTestOptions& options = {});

// Of those that were run.
telemetry::Verdict worst_of(const std::vector<telemetry::DiagnosticTest>& tests);
size_t not_run(const std::vector<telemetry::DiagnosticTest>& tests);
// A line for each result that is a failure or a warning.
std::string faults_of(const std::vector<telemetry::DiagnosticTest>& tests);

// Whether a CUDA device can be had; the error says why not.
Status cuda_at_hand(const DcgmiSession& session);

}  // namespace pagoda::app
