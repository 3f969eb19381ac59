#include "telemetry/exposition.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace pagoda::telemetry {
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

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Cuts the text before the next `separator` off its front.
std::string_view take_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

// One range of an Accept header: a media type and how welcome it is.
struct MediaRange {
  std::string_view type;
  double q = 1;
  bool known_version = true;  // of OpenMetrics
};

MediaRange read_media_range(std::string_view text) {
  MediaRange range;
  range.type = take_part(text, ';');
  while (!text.empty()) {
    std::string_view value = take_part(text, ';');
    const std::string_view name = take_part(value, '=');
    if (name == "q") range.q = std::strtod(std::string(value).c_str(), nullptr);
    if (name == "version") range.known_version = value == "1.0.0" || value == "0.0.1";
  }
  return range;
}

}  // namespace

ExpositionForm form_for_accept(std::string_view accept) {
  double open_metrics = 0, plain = 0;
  while (!accept.empty()) {
    const MediaRange range = read_media_range(take_part(accept, ','));
    if (range.type == "application/openmetrics-text" && range.known_version)
      open_metrics = std::max(open_metrics, range.q);
    if (range.type == "text/plain" || range.type == "text/*") plain = std::max(plain, range.q);
  }
  return open_metrics > 0 && open_metrics >= plain ? ExpositionForm::kOpenMetrics
                                                   : ExpositionForm::kPrometheus;
}

std::string content_type(ExpositionForm form) {
  return form == ExpositionForm::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

Labels::Labels(std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
  for (const auto& [name, value] : labels) add(name, value);
}

Labels Labels::with(std::string_view name, std::string_view value) const {
  Labels more = *this;
  more.add(name, value);
  return more;
}

void Labels::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += ',';
  text_ += name;
  text_ += "=\"";
  append_escaped(text_, value, true);
  text_ += '"';
}

void Exposition::head(std::string_view family, std::string_view type, std::string_view help) {
  out_ += "# HELP ";
  out_ += family;
  out_ += ' ';
  append_escaped(out_, help, form_ == ExpositionForm::kOpenMetrics);
  out_ += "\n# TYPE ";
  out_ += family;
  out_ += ' ';
  out_ += type;
  out_ += '\n';
}

void Exposition::begin(MetricType type, std::string_view name, std::string_view help) {
  name_ = name;
  sample_suffix_ = type == MetricType::kCounter ? "_total" : "";
  std::string family = name_;
  if (form_ == ExpositionForm::kPrometheus) family += sample_suffix_;
  head(family, kTypeNames[static_cast<size_t>(type)], help);
}

void Exposition::begin_as_named(MetricType type, std::string_view name, std::string_view help) {
  name_ = name;
  sample_suffix_ = "";
  const bool unknown = type == MetricType::kCounter && form_ == ExpositionForm::kOpenMetrics;
  head(name_, unknown ? "unknown" : kTypeNames[static_cast<size_t>(type)], help);
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

}  // namespace pagoda::telemetry
