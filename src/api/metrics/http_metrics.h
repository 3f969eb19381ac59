// What the HTTP front did, under the names of prometheus-fastapi-instrumentator, as vLLM exposes them.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"
#include "telemetry/exposition.h"

namespace pagoda::api::metrics {

// Any thread. Paths that health checks and scrapers poll are not counted, as in vLLM; what meets no route is
// handler "none", and methods that HTTP does not know are "other", so that strangers cannot make series.
class HttpMetrics {
 public:
  HttpMetrics();
  // Makes the route's series, at zero. Before the first record.
  void expect(std::string_view method, std::string_view handler);
  void record(const http::ExchangeRecord& record);
  void write(telemetry::Exposition& out) const;

 private:
  static constexpr std::array<double, 3> kBounds{0.1, 0.5, 1};
  static constexpr std::array<double, 21> kFineBounds{
      0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60};
  struct Row {
    std::string method, handler;
    std::array<int64_t, 4> by_status{};  // 2xx, 3xx, 4xx, 5xx
    std::array<int64_t, kBounds.size() + 1> durations{};
    double seconds = 0;
    int64_t request_bytes = 0, response_bytes = 0, count = 0;
  };
  Row& row(std::string_view method, std::string_view handler);
  // Sizes are told by handler: a handler of two methods is one series.
  void write_sizes(telemetry::Exposition& out, std::string_view name, std::string_view help,
                   int64_t Row::*bytes) const;

  mutable std::mutex mutex_;
  std::vector<Row> rows_;
  std::array<int64_t, kFineBounds.size() + 1> all_durations_{};
  double all_seconds_ = 0;
};

}  // namespace pagoda::api::metrics
