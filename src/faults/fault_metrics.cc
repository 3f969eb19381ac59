#include "faults/fault_metrics.h"

#include <array>
#include <set>

#include "base/format.h"

namespace pagoda::faults {
namespace {

// \, " and line ends, as the exposition format wants them in a label's value.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

double unix_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

void add_head(std::string& out, std::string_view name, std::string_view help) {
  out += format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

std::string labels_of(const Story& story, const Finding& finding, bool is_root) {
  const std::string_view gpu = finding.fields.has("gpu") ? finding.fields.get("gpu") : story.gpu;
  return format(R"(id="{}",gpu="{}",role="{}",severity="{}",step="{}",drain="{}",title="{}")",
                escaped(finding.fault->id), escaped(gpu), is_root ? "cause" : "consequence",
                name_of(finding.severity), name_of(finding.fault->step), finding.drain,
                escaped(finding.fault->title));
}

}  // namespace

std::string fault_metrics(const WatchState& state) {
  std::string out;
  add_head(out, "pagoda_fault", "A fault that pagoda doctor sees now; absent once it has cleared.");
  // Findings that differ only in what is no label (a pid, a link) are one series.
  std::set<std::string> series;
  std::array<int, 4> counts{};
  for (const WatchedStory& watched : state.stories) {
    ++counts[static_cast<size_t>(watched.story.severity)];
    for (size_t i = 0; i < watched.story.findings.size(); ++i)
      series.insert(labels_of(watched.story, watched.story.findings[i], i == 0));
  }
  for (const std::string& labels : series) out += format("pagoda_fault{{{}}} 1\n", labels);
  add_head(out, "pagoda_fault_stories", "Causes with their consequences, by the worst severity in them.");
  for (const Severity severity : {Severity::kNote, Severity::kWarning, Severity::kFault})
    out += format("pagoda_fault_stories{{severity=\"{}\"}} {}\n", name_of(severity),
                  counts[static_cast<size_t>(severity)]);
  add_head(out, "pagoda_doctor_last_examination_timestamp_seconds", "When the machine was last examined.");
  out += format("pagoda_doctor_last_examination_timestamp_seconds {:.3f}\n", unix_seconds(state.examined_at));
  add_head(out, "pagoda_doctor_examination_seconds", "How long the last examination took.");
  out += format("pagoda_doctor_examination_seconds {:.3f}\n", state.examination_seconds);
  return out;
}

}  // namespace pagoda::faults
