// The text that Prometheus scrapes: its own format 0.0.4, or OpenMetrics 1.0 where the scraper asks for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pagoda::telemetry {

enum class ExpositionForm { kPrometheus, kOpenMetrics };
// By the Accept header and its q values. Where both are as welcome: OpenMetrics, if it is named at all.
ExpositionForm form_for_accept(std::string_view accept);
std::string content_type(ExpositionForm form);

enum class MetricType { kGauge, kCounter, kHistogram, kSummary };

// `name="value",…` with values escaped; the order is that of the calls.
class Labels {
 public:
  Labels() = default;
  Labels(std::initializer_list<std::pair<std::string_view, std::string_view>> labels);
  Labels with(std::string_view name, std::string_view value) const;
  void add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Cumulative by construction: counts[i] is of values in (bounds[i-1], bounds[i]], the last one of those above
// all.
struct HistogramView {
  std::span<const double> bounds;
  std::span<const int64_t> counts;
  double sum = 0;
};

// Families in order, each begun once and followed by its samples.
class Exposition {
 public:
  explicit Exposition(ExpositionForm form) : form_(form) {}
  ExpositionForm form() const { return form_; }

  // Counters are named without their suffix _total.
  void begin(MetricType type, std::string_view name, std::string_view help);
  // A gauge or counter whose name belongs to others and stays as it is. OpenMetrics has no counter without
  // _total; there such a one is of type unknown, so that its series has the same name in both forms.
  void begin_as_named(MetricType type, std::string_view name, std::string_view help);
  void sample(const Labels& labels, double value);
  void sample(const Labels& labels, int64_t value);
  void histogram(const Labels& labels, const HistogramView& view);
  void summary(const Labels& labels, double sum, int64_t count);

  // The whole text. Nothing may follow.
  std::string finish();

 private:
  void head(std::string_view family, std::string_view type, std::string_view help);
  void line(std::string_view suffix, std::string_view labels, std::string_view value);

  ExpositionForm form_;
  std::string name_;
  std::string_view sample_suffix_;
  std::string out_;
};

}  // namespace pagoda::telemetry
