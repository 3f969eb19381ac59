// The parts of `pagoda dcgmi`, one file each. `words`: what follows the part's name.
#pragma once

#include <span>
#include <string>

namespace pagoda::app {

using DcgmiWords = std::span<const std::string>;

int run_dcgmi_discovery(const std::string& program, DcgmiWords words);
int run_dcgmi_group(const std::string& program, DcgmiWords words);
int run_dcgmi_field_group(const std::string& program, DcgmiWords words);
int run_dcgmi_monitor(const std::string& program, DcgmiWords words);
int run_dcgmi_health(const std::string& program, DcgmiWords words);
int run_dcgmi_policy(const std::string& program, DcgmiWords words);
int run_dcgmi_diagnostic(const std::string& program, DcgmiWords words);
int run_dcgmi_topology(const std::string& program, DcgmiWords words);
int run_dcgmi_nvlink(const std::string& program, DcgmiWords words);
int run_dcgmi_profile(const std::string& program, DcgmiWords words);
int run_dcgmi_test(const std::string& program, DcgmiWords words);

}  // namespace pagoda::app
