// /metrics, /health and a page that leads to them, over the text that the exporter has ready.
#pragma once

#include "app/exporter_options.h"
#include "base/result.h"
#include "http/server.h"
#include "telemetry/exporter.h"

namespace pagoda::app {

// `exporter` outlives the server.
Result<std::unique_ptr<http::Server>> start_exporter_server(const ExporterOptions& options,
                                                            const telemetry::Exporter& exporter);

}  // namespace pagoda::app
