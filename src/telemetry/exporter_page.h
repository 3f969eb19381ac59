// One collection of the exporter as text: the series of the plan, then pagoda's own about the GPUs and about
// the exporter. A value that is absent has no line; nothing stands in for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "telemetry/clock_event_record.h"
#include "telemetry/exporter_entities.h"
#include "telemetry/exporter_plan.h"
#include "telemetry/exposition.h"
#include "telemetry/gpu_sample.h"
#include "telemetry/health_window.h"

namespace pagoda::telemetry {

// GPU by GPU, nvmlGpuP2PStatus_t over NVLink; a GPU with itself is absent.
using P2pMatrix = std::vector<std::vector<driver::Field<unsigned>>>;

// How often each XID came since the exporter began: by NVML's index of the GPU, by XID.
using XidTotals = std::map<unsigned, std::map<unsigned, std::uint64_t>>;

// What a page is made from.
struct ExporterScene {
  const ExporterPlan& plan;
  const GpuSample& sample;
  const std::vector<ExportedEntity>& entities;  // of the plan's series
  const std::vector<ExportedEntity>& gpus;      // of pagoda's own
  const std::vector<XidEvent>& xids;            // the last thousands, oldest first
  const XidTotals& xid_totals;
  const ClockEventRecord& clock_events;
  const P2pMatrix& p2p;
  const std::vector<std::vector<Incident>>& health;  // as the sample's GPUs; empty: not asked for
  std::chrono::milliseconds xid_window{300000}, clock_event_window{300000};
  TimePoint now;
  std::chrono::system_clock::time_point wall_now;
  // "fell off the bus": a few words for an XID; empty where none are known.
  std::function<std::string(unsigned xid)> xid_words;
  std::string version;            // pagoda's
  std::uint64_t collections = 0;  // up to this one
  double collection_seconds = 0;  // how long this one took to read
};

std::string write_page(ExpositionForm form, const ExporterScene& scene);

}  // namespace pagoda::telemetry
