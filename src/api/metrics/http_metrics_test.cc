#include "api/metrics/http_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::api::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

http::ExchangeRecord record_of(std::string method, std::string pattern, int status) {
  http::ExchangeRecord record;
  record.method = std::move(method);
  record.pattern = std::move(pattern);
  record.status = status;
  record.seconds = 0.2;
  record.request_bytes = 10;
  record.response_bytes = 100;
  return record;
}

std::string text_of(const HttpMetrics& metrics) {
  telemetry::Exposition out(telemetry::ExpositionForm::kPrometheus);
  metrics.write(out);
  return out.finish();
}

TEST(HttpMetrics, EverySeriesIsThereAtZero) {
  HttpMetrics metrics;
  metrics.expect("POST", "/v1/chat/completions");
  const std::string text = text_of(metrics);
  EXPECT_THAT(
      text,
      HasSubstr("http_requests_total{handler=\"/v1/chat/completions\",method=\"POST\",status=\"2xx\"} 0"));
  EXPECT_THAT(
      text,
      HasSubstr("http_request_duration_seconds_count{handler=\"/v1/chat/completions\",method=\"POST\"} 0"));
  EXPECT_THAT(text, HasSubstr("http_request_size_bytes_count{handler=\"none\"} 0"));
}

TEST(HttpMetrics, CountsByHandlerMethodAndClass) {
  HttpMetrics metrics;
  metrics.record(record_of("POST", "/v1/completions", 200));
  metrics.record(record_of("POST", "/v1/completions", 499));
  metrics.record(record_of("GET", "", 404));
  const std::string text = text_of(metrics);
  EXPECT_THAT(text, HasSubstr("{handler=\"/v1/completions\",method=\"POST\",status=\"2xx\"} 1"));
  EXPECT_THAT(text, HasSubstr("{handler=\"/v1/completions\",method=\"POST\",status=\"4xx\"} 1"));
  EXPECT_THAT(text, HasSubstr("{handler=\"none\",method=\"GET\",status=\"4xx\"} 1"));
  EXPECT_THAT(text, HasSubstr("http_response_size_bytes_sum{handler=\"/v1/completions\"} 200.0"));
  EXPECT_THAT(text, HasSubstr("method=\"POST\",le=\"0.1\"} 0"));
  EXPECT_THAT(text, HasSubstr("method=\"POST\",le=\"0.5\"} 2"));
  EXPECT_THAT(text, HasSubstr("http_request_duration_highr_seconds_count 3"));
}

TEST(HttpMetrics, StrangersMakeNoSeriesAndProbesAreNotCounted) {
  HttpMetrics metrics;
  metrics.record(record_of("BREW", "", 405));
  metrics.record(record_of("GET", "/metrics", 200));
  const std::string text = text_of(metrics);
  EXPECT_THAT(text, HasSubstr("method=\"other\",status=\"4xx\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("BREW")));
  EXPECT_THAT(text, Not(HasSubstr("/metrics")));
}

}  // namespace
}  // namespace pagoda::api::metrics
