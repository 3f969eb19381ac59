#include "api/metrics/http_metrics.h"

#include <algorithm>

namespace pagoda::api::metrics {
namespace {

using telemetry::Exposition;
using telemetry::Labels;
using telemetry::MetricType;

constexpr std::array<std::string_view, 5> kNotCounted{"/metrics", "/health", "/load", "/ping", "/version"};
constexpr std::array<std::string_view, 7> kMethods{"GET",   "POST", "PUT",    "DELETE",
                                                   "PATCH", "HEAD", "OPTIONS"};
constexpr std::array<std::string_view, 4> kStatusClasses{"2xx", "3xx", "4xx", "5xx"};
constexpr std::string_view kNoHandler = "none";

bool counted(std::string_view handler) {
  return std::find(kNotCounted.begin(), kNotCounted.end(), handler) == kNotCounted.end();
}

std::string_view known_method(std::string_view method) {
  const auto it = std::find(kMethods.begin(), kMethods.end(), method);
  return it == kMethods.end() ? "other" : *it;
}

size_t bucket_of(std::span<const double> bounds, double value) {
  return static_cast<size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
}

}  // namespace

HttpMetrics::HttpMetrics() {
  row("GET", kNoHandler);
}

void HttpMetrics::expect(std::string_view method, std::string_view handler) {
  if (!counted(handler)) return;
  const std::lock_guard lock(mutex_);
  row(method, handler);
}

HttpMetrics::Row& HttpMetrics::row(std::string_view method, std::string_view handler) {
  for (Row& row : rows_) {
    if (row.method == method && row.handler == handler) return row;
  }
  rows_.emplace_back();
  rows_.back().method = method;
  rows_.back().handler = handler;
  return rows_.back();
}

void HttpMetrics::record(const http::ExchangeRecord& record) {
  const std::string_view handler = record.pattern.empty() ? kNoHandler : std::string_view(record.pattern);
  if (!counted(handler)) return;
  const int status_class = std::clamp(record.status / 100, 2, 5);
  const std::lock_guard lock(mutex_);
  Row& line = row(known_method(record.method), handler);
  ++line.by_status[static_cast<size_t>(status_class - 2)];
  ++line.durations[bucket_of(kBounds, record.seconds)];
  line.seconds += record.seconds;
  line.request_bytes += record.request_bytes;
  line.response_bytes += record.response_bytes;
  ++line.count;
  ++all_durations_[bucket_of(kFineBounds, record.seconds)];
  all_seconds_ += record.seconds;
}

void HttpMetrics::write_sizes(Exposition& out, std::string_view name, std::string_view help,
                              int64_t Row::*bytes) const {
  out.begin(MetricType::kSummary, name, help);
  for (auto row = rows_.begin(); row != rows_.end(); ++row) {
    const auto same_handler = [&](const Row& other) { return other.handler == row->handler; };
    if (std::find_if(rows_.begin(), row, same_handler) != row) continue;  // told already
    int64_t sum = 0, count = 0;
    for (const Row& other : rows_) {
      if (!same_handler(other)) continue;
      sum += other.*bytes;
      count += other.count;
    }
    out.summary({{"handler", row->handler}}, static_cast<double>(sum), count);
  }
}

void HttpMetrics::write(Exposition& out) const {
  const std::lock_guard lock(mutex_);
  out.begin(MetricType::kCounter, "http_requests", "Requests by method, handler and class of status.");
  for (const Row& row : rows_) {
    const Labels labels{{"handler", row.handler}, {"method", row.method}};
    for (size_t i = 0; i < kStatusClasses.size(); ++i) {
      out.sample(labels.with("status", kStatusClasses[i]), row.by_status[i]);
    }
  }
  write_sizes(out, "http_request_size_bytes", "Bytes of requests, by handler.", &Row::request_bytes);
  write_sizes(out, "http_response_size_bytes", "Bytes of responses, by handler.", &Row::response_bytes);
  out.begin(MetricType::kHistogram, "http_request_duration_seconds",
            "Time to the end of the answer, by handler.");
  for (const Row& row : rows_) {
    out.histogram({{"handler", row.handler}, {"method", row.method}}, {kBounds, row.durations, row.seconds});
  }
  out.begin(MetricType::kHistogram, "http_request_duration_highr_seconds",
            "Time to the end of the answer, finer, of all handlers.");
  out.histogram({}, {kFineBounds, all_durations_, all_seconds_});
}

}  // namespace pagoda::api::metrics
