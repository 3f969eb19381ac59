#include "faults/examination.h"

#include <algorithm>

#include "base/format.h"
#include "faults/diagnosis.h"
#include "faults/observations.h"
#include "faults/reading_rules.h"
#include "faults/source_files.h"
#include "faults/stories.h"

namespace pagoda::faults {
namespace {

// More than a person reads, and linking them costs their square.
constexpr size_t kMostFindings = 512;

void keep_worst(std::vector<Finding>& findings, Report& report) {
  if (findings.size() <= kMostFindings) return;
  report.gaps.push_back(
      format("{} more findings of lesser weight are not shown", findings.size() - kMostFindings));
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  findings.resize(kMostFindings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return order_of(a) < order_of(b); });
}

}  // namespace

// Scans each file as it comes.
class Examination::Receiver : public FileReceiver {
 public:
  explicit Receiver(Examination& examination) : examination_(examination) {}

  void begin(const std::string& name) override {
    scanner_ = std::make_unique<TextScanner>(*examination_.matcher_, examination_.records_, name);
  }
  bool take(std::string_view bytes) override { return scanner_->feed(bytes); }
  void end(const std::string& fault) override {
    scanner_->finish();
    SourceSummary summary = scanner_->summary();
    if (!fault.empty()) summary.remark = fault;
    examination_.report_.sources.push_back(std::move(summary));
    scanner_ = nullptr;
  }

 private:
  Examination& examination_;
  std::unique_ptr<TextScanner> scanner_;
};

Examination::Examination(std::shared_ptr<const PatternMatcher> matcher) : matcher_(std::move(matcher)) {}
Examination::~Examination() = default;

Result<std::unique_ptr<Examination>> Examination::begin() {
  PAGODA_ASSIGN(auto matcher, PatternMatcher::create(section_marks()));
  return begin(std::shared_ptr<const PatternMatcher>(std::move(matcher)));
}

std::unique_ptr<Examination> Examination::begin(std::shared_ptr<const PatternMatcher> matcher) {
  return std::unique_ptr<Examination>(new Examination(std::move(matcher)));
}

Status Examination::read(const std::string& path) {
  Receiver receiver(*this);
  return read_sources(path, receiver);
}

void Examination::read_text(const std::string& name, std::string_view text) {
  Receiver receiver(*this);
  receiver.begin(name);
  receiver.take(text);
  receiver.end("");
}

void Examination::add(Event event) {
  records_.events.add(std::move(event));
}

void Examination::record(const Snapshot& snapshot) {
  records_.machine.add(snapshot);
}

void Examination::judge(const Snapshot& snapshot, const std::string& source) {
  judge_snapshot(snapshot, source, [this](Event event) { records_.events.add(std::move(event)); });
}

void Examination::add_activity(std::string_view gpu, std::vector<ProcessActivity> processes,
                               const NetworkActivity& network) {
  records_.machine.add_activity(gpu, std::move(processes), network);
}

void Examination::add_gap(std::string gap) {
  report_.gaps.push_back(std::move(gap));
}

void Examination::add_observation(Observation observation) {
  report_.observations.push_back(std::move(observation));
}

Report Examination::conclude() {
  std::vector<Finding> findings = find_faults(records_);
  if (records_.events.dropped() > 0)
    report_.gaps.push_back(
        format("{} events of further kinds were counted and not kept", records_.events.dropped()));
  keep_worst(findings, report_);
  report_.stories = tell_stories(std::move(findings), records_);
  for (Observation& seen : observe(records_.machine, report_.stories))
    report_.observations.push_back(std::move(seen));
  return std::move(report_);
}

Severity Report::severity() const {
  Severity worst = Severity::kNone;
  for (const Story& story : stories) worst = std::max(worst, story.severity);
  return worst;
}

}  // namespace pagoda::faults
