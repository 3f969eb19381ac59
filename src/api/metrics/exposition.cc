#include "api/metrics/exposition.h"

#include <charconv>
#include <cmath>

namespace pagoda::api::metrics {
namespace {

constexpr std::string_view kTypeNames[] = {"gauge", "counter", "histogram", "summary"};

void append_escaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && quotes)
      out += "\\\"";
    else
      out += c;
  }
}

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char digits[40];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  std::string text(digits, end);
  // OpenMetrics wants bounds and values of floats to look like floats.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string with_bound(const std::string& labels, std::string_view bound) {
  std::string text = labels;
  if (!text.empty()) text += ',';
  text += "le=\"";
  text += bound;
  text += '"';
  return text;
}

}  // namespace

ExpositionForm form_for_accept(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos ? ExpositionForm::kOpenMetrics
                                                                               : ExpositionForm::kPrometheus;
}

std::string content_type(ExpositionForm form) {
  return form == ExpositionForm::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

Labels::Labels(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  for (const auto& [name, value] : labels) *this = with(name, value);
}

Labels Labels::with(std::string_view name, std::string_view value) const {
  Labels more = *this;
  if (!more.text_.empty()) more.text_ += ',';
  more.text_ += name;
  more.text_ += "=\"";
  append_escaped(more.text_, value, true);
  more.text_ += '"';
  return more;
}

void Exposition::begin(MetricType type, std::string_view name, std::string_view help) {
  name_ = name;
  sample_suffix_ = type == MetricType::kCounter ? "_total" : "";
  std::string family = name_;
  if (form_ == ExpositionForm::kPrometheus) family += sample_suffix_;
  out_ += "# HELP " + family + ' ';
  append_escaped(out_, help, form_ == ExpositionForm::kOpenMetrics);
  out_ += "\n# TYPE " + family + ' ';
  out_ += kTypeNames[static_cast<size_t>(type)];
  out_ += '\n';
}

void Exposition::line(std::string_view suffix, std::string_view labels, std::string_view value) {
  out_ += name_;
  out_ += suffix;
  if (!labels.empty()) {
    out_ += '{';
    out_ += labels;
    out_ += '}';
  }
  out_ += ' ';
  out_ += value;
  out_ += '\n';
}

void Exposition::sample(const Labels& labels, double value) {
  line(sample_suffix_, labels.text(), number_text(value));
}

void Exposition::sample(const Labels& labels, int64_t value) {
  line(sample_suffix_, labels.text(), std::to_string(value));
}

void Exposition::histogram(const Labels& labels, const HistogramView& view) {
  int64_t cumulative = 0;
  for (size_t i = 0; i < view.counts.size(); ++i) {
    cumulative += view.counts[i];
    const std::string bound = i < view.bounds.size() ? number_text(view.bounds[i]) : "+Inf";
    line("_bucket", with_bound(labels.text(), bound), std::to_string(cumulative));
  }
  line("_count", labels.text(), std::to_string(cumulative));
  line("_sum", labels.text(), number_text(view.sum));
}

void Exposition::summary(const Labels& labels, double sum, int64_t count) {
  line("_count", labels.text(), std::to_string(count));
  line("_sum", labels.text(), number_text(sum));
}

std::string Exposition::finish() {
  if (form_ == ExpositionForm::kOpenMetrics) out_ += "# EOF\n";
  return std::move(out_);
}

}  // namespace pagoda::api::metrics
