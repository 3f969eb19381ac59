#include "telemetry/exporter_page.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/format.h"

namespace pagoda::telemetry {
namespace {

constexpr unsigned kXidField = 230;
constexpr std::array<std::string_view, 7> kP2pWords{"OK",
                                                    "ChipsetNotSupported",
                                                    "GPUNotSupported",
                                                    "TopologyNotSupported",
                                                    "DisabledByRegKey",
                                                    "NotSupported",
                                                    "Unknown"};

struct HealthLabel {
  HealthSystem system;
  std::string_view name;
};
constexpr std::array kHealthLabels{
    HealthLabel{kPcieHealth, "PCIE"},       HealthLabel{kNvLinkHealth, "NVLINK"},
    HealthLabel{kMemoryHealth, "MEM"},      HealthLabel{kInforomHealth, "INFOROM"},
    HealthLabel{kThermalHealth, "THERMAL"}, HealthLabel{kPowerHealth, "POWER"},
    HealthLabel{kDriverHealth, "DRIVER"},
};
constexpr std::int64_t kHealthStep = 10;  // DCGM's 0 pass, 10 warning, 20 failure

double unix_seconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

std::string error_words(const ExporterScene& scene, std::int64_t xid) {
  if (xid == 0) return "No Error";
  const std::string words = scene.xid_words ? scene.xid_words(static_cast<unsigned>(xid)) : "";
  return words.empty() ? "Unknown Error" : words;
}

class PageWriter {
 public:
  PageWriter(ExpositionForm form, const ExporterScene& scene) : out_(form), scene_(scene) {}

  std::string write() {
    for (const ExportColumn& column : scene_.plan.series) {
      if (column.field != nullptr)
        write_field(column);
      else
        write_derived(column);
    }
    write_up();
    write_xids();
    write_clock_events();
    write_links();
    write_recovery();
    write_absences();
    write_exporter();
    return out_.finish();
  }

 private:
  struct Xids {
    std::uint64_t count = 0;
    std::chrono::system_clock::time_point last;
  };

  void begin_named(const ExportColumn& column) {
    const auto type = column.line.kind == CounterKind::kCounter ? MetricType::kCounter : MetricType::kGauge;
    out_.begin_as_named(type, column.line.name, column.line.help);
  }
  void sample(const Labels& labels, const FieldValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      out_.sample(labels, *whole);
    else
      out_.sample(labels, to_number(value));
  }
  const driver::GpuSnapshot& snapshot(const ExportedEntity& entity) const {
    return scene_.sample.machine.gpus[entity.gpu];
  }

  void write_field(const ExportColumn& column) {
    bool begun = false;
    for (const ExportedEntity& entity : scene_.entities) {
      const FieldReading value = read_for(*column.field, scene_.sample, entity);
      if (!value) {
        ++absent_[{entity.gpu, value.error().reason}];
        continue;
      }
      if (!begun) begin_named(column);
      begun = true;
      for (const Labels& labels : entity.labels) {
        if (column.field->id != kXidField) {
          sample(labels, *value);
          continue;
        }
        const auto xid = static_cast<std::int64_t>(to_number(*value));
        sample(labels.with("err_code", std::to_string(xid)).with("err_msg", error_words(scene_, xid)),
               *value);
      }
    }
  }

  // By XID; `since`: those that are not older.
  std::map<unsigned, Xids> xids_of(const ExportedEntity& entity,
                                   std::chrono::system_clock::time_point since) const {
    std::map<unsigned, Xids> xids;
    for (const XidEvent& event : scene_.xids) {
      const bool of_another = entity.instance && event.gpu_instance && event.gpu_instance != entity.instance;
      if (event.gpu != snapshot(entity).index || of_another || event.time < since) continue;
      ++xids[event.xid].count;
      xids[event.xid].last = event.time;
    }
    return xids;
  }

  void write_derived(const ExportColumn& column) {
    begin_named(column);
    for (const ExportedEntity& entity : scene_.entities) {
      for (const Labels& labels : entity.labels) {
        switch (*column.derived) {
          case DerivedSeries::kXidErrorsCount:
            write_recent_xids(entity, labels);
            break;
          case DerivedSeries::kXidErrorsTotal:
            write_xid_totals(entity, labels);
            break;
          case DerivedSeries::kClockEventsCount:
            write_recent_clock_events(entity, labels);
            break;
          case DerivedSeries::kClockEventsTotal:
            write_clock_event_totals(entity, labels);
            break;
          case DerivedSeries::kP2pStatus:
            write_p2p(entity, labels);
            break;
          case DerivedSeries::kGpuHealthStatus:
            write_health(entity, labels);
            break;
        }
      }
    }
  }

  // As dcgm-exporter: where there was none, one line of 0 without the label of what was counted.
  void write_recent_xids(const ExportedEntity& entity, const Labels& labels) {
    const Labels windowed = labels.with("window_size_in_ms", std::to_string(scene_.xid_window.count()));
    const auto recent = xids_of(entity, scene_.wall_now - scene_.xid_window);
    if (recent.empty()) out_.sample(windowed, std::int64_t{0});
    for (const auto& [xid, seen] : recent)
      out_.sample(windowed.with("xid", std::to_string(xid)), static_cast<std::int64_t>(seen.count));
  }

  void write_xid_totals(const ExportedEntity& entity, const Labels& labels) {
    const auto totals = scene_.xid_totals.find(snapshot(entity).index);
    if (totals == scene_.xid_totals.end()) return;
    for (const auto& [xid, count] : totals->second)
      out_.sample(labels.with("xid", std::to_string(xid)), static_cast<std::int64_t>(count));
  }

  void write_recent_clock_events(const ExportedEntity& entity, const Labels& labels) {
    if (!snapshot(entity).clock_events.active) return;
    const Labels windowed =
        labels.with("window_size_in_ms", std::to_string(scene_.clock_event_window.count()));
    bool any = false;
    for (const ClockEvent& event : clock_events()) {
      const unsigned count = scene_.clock_events.in_window(snapshot(entity).index, event.bit, scene_.now);
      if (count == 0) continue;
      any = true;
      out_.sample(windowed.with("clock_event", event.name), static_cast<std::int64_t>(count));
    }
    if (!any) out_.sample(windowed, std::int64_t{0});
  }

  void write_clock_event_totals(const ExportedEntity& entity, const Labels& labels) {
    if (!snapshot(entity).clock_events.active) return;
    for (const ClockEvent& event : clock_events()) {
      const auto began = scene_.clock_events.began(snapshot(entity).index, event.bit);
      out_.sample(labels.with("clock_event", event.name), static_cast<std::int64_t>(began));
    }
  }

  void write_p2p(const ExportedEntity& entity, const Labels& labels) {
    if (entity.gpu >= scene_.p2p.size()) return;
    const auto& row = scene_.p2p[entity.gpu];
    for (size_t peer = 0; peer < row.size(); ++peer) {
      if (!row[peer]) continue;
      const std::string_view words = kP2pWords[std::min<size_t>(*row[peer], kP2pWords.size() - 1)];
      out_.sample(labels.with("peer_gpu", std::to_string(scene_.sample.machine.gpus[peer].index))
                      .with("link_status", words),
                  static_cast<std::int64_t>(*row[peer]));
    }
  }

  // A GPU that does not answer is told by what is known to be wrong; the rest of it is not called well.
  void write_health(const ExportedEntity& entity, const Labels& labels) {
    if (entity.gpu >= scene_.health.size()) return;
    const bool answering = answers(snapshot(entity));
    for (const HealthLabel& row : kHealthLabels) {
      std::optional<Health> worst;
      for (const Incident& incident : scene_.health[entity.gpu]) {
        if (incident.system == row.system) worst = std::max(worst.value_or(Health::kPass), incident.health);
      }
      if (!worst && !answering) continue;
      const Health health = worst.value_or(Health::kPass);
      out_.sample(labels.with("health_watch", row.name)
                      .with("health_error_code", health == Health::kPass ? "DCGM_FR_OK" : "DCGM_FR_UNKNOWN"),
                  kHealthStep * static_cast<std::int64_t>(health));
    }
  }

  void write_up() {
    out_.begin(MetricType::kGauge, "pagoda_gpu_up", "1: the GPU answers; 0: it is lost, or does not answer.");
    for (const ExportedEntity& gpu : scene_.gpus)
      out_.sample(gpu.labels.front(), std::int64_t{answers(snapshot(gpu))});
  }

  void write_xids() {
    out_.begin(MetricType::kCounter, "pagoda_gpu_xid_errors", "XIDs since the exporter began, by number.");
    for (const ExportedEntity& gpu : scene_.gpus) write_xid_totals(gpu, gpu.labels.front());
    out_.begin(MetricType::kGauge, "pagoda_gpu_xid_last_timestamp_seconds",
               "When the XID came for the last time, in seconds since 1970.");
    for (const ExportedEntity& gpu : scene_.gpus) {
      for (const auto& [xid, seen] : xids_of(gpu, {}))
        out_.sample(gpu.labels.front().with("xid", std::to_string(xid)), unix_seconds(seen.last));
    }
  }

  void write_clock_events() {
    out_.begin(MetricType::kGauge, "pagoda_gpu_clock_event",
               "1: this is a reason why the clock is lower than asked for.");
    for (const ExportedEntity& gpu : scene_.gpus) {
      const auto& active = snapshot(gpu).clock_events.active;
      if (!active) continue;
      for (const ClockEvent& event : clock_events())
        out_.sample(gpu.labels.front().with("clock_event", event.name),
                    std::int64_t{(*active & event.bit) != 0});
    }
  }

  void write_links() {
    out_.begin(MetricType::kGauge, "pagoda_gpu_nvlinks", "NVLinks of the GPU, by state.");
    for (const ExportedEntity& gpu : scene_.gpus) {
      std::int64_t active = 0, inactive = 0;
      for (const driver::NvLink& link : snapshot(gpu).nvlink.links) {
        if (link.active) ++(*link.active ? active : inactive);
      }
      if (active + inactive == 0) continue;
      out_.sample(gpu.labels.front().with("state", "active"), active);
      out_.sample(gpu.labels.front().with("state", "inactive"), inactive);
    }
  }

  void write_recovery() {
    out_.begin(MetricType::kGauge, "pagoda_gpu_recovery_action",
               "What the driver asks for: 0 nothing, 1 reset of the GPU, 2 reboot, 3 drain of peers, 4 drain "
               "and reset, 5 recovery of the IMEX domain.");
    for (const ExportedEntity& gpu : scene_.gpus) {
      if (const auto& action = snapshot(gpu).modes.recovery_action)
        out_.sample(gpu.labels.front(), std::int64_t{*action});
    }
  }

  void write_absences() {
    out_.begin(MetricType::kGauge, "pagoda_gpu_absent_fields",
               "Fields of the counters file that have no series now, by reason.");
    for (const auto& [key, count] : absent_) {
      const auto gpu = std::find_if(scene_.gpus.begin(), scene_.gpus.end(),
                                    [&, place = key.first](const auto& g) { return g.gpu == place; });
      if (gpu != scene_.gpus.end())
        out_.sample(gpu->labels.front().with("reason", driver::describe(key.second)), count);
    }
  }

  void write_exporter() {
    const auto& driver = scene_.sample.machine.driver;
    out_.begin(MetricType::kGauge, "pagoda_exporter_info", "Versions, as labels.");
    out_.sample(
        Labels{{"version", scene_.version}, {"driver_version", driver.version ? *driver.version : ""}},
        std::int64_t{1});
    out_.begin(MetricType::kCounter, "pagoda_exporter_collections", "Readings of all GPUs.");
    out_.sample({}, static_cast<std::int64_t>(scene_.collections));
    out_.begin(MetricType::kGauge, "pagoda_exporter_collection_seconds", "How long the last reading took.");
    out_.sample({}, scene_.collection_seconds);
    out_.begin(MetricType::kGauge, "pagoda_exporter_collection_timestamp_seconds",
               "When the last reading ended, in seconds since 1970.");
    out_.sample({}, unix_seconds(scene_.wall_now));
  }

  Exposition out_;
  const ExporterScene& scene_;
  std::map<std::pair<size_t, driver::AbsenceReason>, std::int64_t> absent_;
};

}  // namespace

std::string write_page(ExpositionForm form, const ExporterScene& scene) {
  return PageWriter(form, scene).write();
}

}  // namespace pagoda::telemetry
