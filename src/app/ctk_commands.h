// The rows of `pagoda ctk`; each file behind them is one group.
#pragma once

#include <string>

#include "app/subcommands.h"

namespace pagoda::app {

int run_cdi_generate(const Invocation& invocation);  // ctk_cdi_generate.cc
int run_cdi_refresh(const Invocation& invocation);
int run_cdi_list(const Invocation& invocation);  // ctk_cdi.cc
int run_cdi_validate(const Invocation& invocation);
int run_cdi_transform_root(const Invocation& invocation);
int run_runtime_configure(const Invocation& invocation);  // ctk_runtime.cc
int run_toolkit_config(const Invocation& invocation);     // ctk_config.cc
int run_toolkit_config_default(const Invocation& invocation);
int run_toolkit_info(const Invocation& invocation);
int run_dev_char_symlinks(const Invocation& invocation);
int run_toolkit_install(const Invocation& invocation);  // ctk_install.cc
int run_toolkit_uninstall(const Invocation& invocation);
int run_container_cli(const Invocation& invocation);  // container_cli.cc

// This program's own file, and the static hook beside it ("/usr/bin/pagoda-container-hook" where there is
// none).
std::string own_program();
std::string container_hook_path();

}  // namespace pagoda::app
