// The server: wires model, engine, API and HTTP together, and runs until a signal ends it.
#pragma once

#include <filesystem>

#include "app/serve_options.h"

namespace pagoda::app {

// `model` is the file behind options.model. Returns the exit code.
int serve(const ServeOptions& options, const std::filesystem::path& model);

}  // namespace pagoda::app
