#include "telemetry/exposition.h"

#include <gtest/gtest.h>

#include <array>

namespace pagoda::telemetry {
namespace {

TEST(Exposition, WritesPrometheusText) {
  Exposition out(ExpositionForm::kPrometheus);
  out.begin(MetricType::kCounter, "a:events", "What happened.");
  out.sample({{"model", "x\"y\\z\n"}}, int64_t{3});
  out.begin(MetricType::kGauge, "b", "A share.");
  out.sample({}, 0.5);
  EXPECT_EQ(out.finish(),
            "# HELP a:events_total What happened.\n# TYPE a:events_total counter\n"
            "a:events_total{model=\"x\\\"y\\\\z\\n\"} 3\n"
            "# HELP b A share.\n# TYPE b gauge\nb 0.5\n");
}

TEST(Exposition, HistogramsAreCumulative) {
  Exposition out(ExpositionForm::kPrometheus);
  const std::array<double, 2> bounds{0.1, 1};
  const std::array<int64_t, 3> counts{2, 0, 1};
  out.begin(MetricType::kHistogram, "t_seconds", "Time.");
  out.histogram({{"m", "x"}}, {bounds, counts, 5.5});
  EXPECT_EQ(
      out.finish(),
      "# HELP t_seconds Time.\n# TYPE t_seconds histogram\n"
      "t_seconds_bucket{m=\"x\",le=\"0.1\"} 2\nt_seconds_bucket{m=\"x\",le=\"1.0\"} 2\n"
      "t_seconds_bucket{m=\"x\",le=\"+Inf\"} 3\nt_seconds_count{m=\"x\"} 3\nt_seconds_sum{m=\"x\"} 5.5\n");
}

TEST(Exposition, OpenMetricsNamesFamiliesWithoutTotalAndEnds) {
  Exposition out(ExpositionForm::kOpenMetrics);
  out.begin(MetricType::kCounter, "events", "What happened.");
  out.sample({}, int64_t{1});
  EXPECT_EQ(out.finish(), "# HELP events What happened.\n# TYPE events counter\nevents_total 1\n# EOF\n");
}

TEST(Exposition, GoesByTheAcceptHeader) {
  EXPECT_EQ(form_for_accept(""), ExpositionForm::kPrometheus);
  EXPECT_EQ(form_for_accept("text/plain"), ExpositionForm::kPrometheus);
  EXPECT_EQ(form_for_accept("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            ExpositionForm::kOpenMetrics);
  // Prometheus' own header, and one that would rather have plain text.
  EXPECT_EQ(
      form_for_accept(
          "application/openmetrics-text;version=1.0.0;q=0.75, text/plain;version=0.0.4;q=0.5, */*;q=0.1"),
      ExpositionForm::kOpenMetrics);
  EXPECT_EQ(form_for_accept("application/openmetrics-text; q=0.2, text/plain; q=0.9"),
            ExpositionForm::kPrometheus);
  EXPECT_EQ(form_for_accept("application/openmetrics-text;q=0"), ExpositionForm::kPrometheus);
  EXPECT_EQ(form_for_accept("application/openmetrics-text;version=9.0.0"), ExpositionForm::kPrometheus);
}

TEST(Exposition, NamesThatBelongToOthersStayInBothForms) {
  for (const auto form : {ExpositionForm::kPrometheus, ExpositionForm::kOpenMetrics}) {
    Exposition out(form);
    out.begin_as_named(MetricType::kCounter, "DCGM_ENERGY", "Energy.");
    out.sample({{"gpu", "0"}}, int64_t{7});
    const std::string text = out.finish();
    EXPECT_NE(text.find("\nDCGM_ENERGY{gpu=\"0\"} 7\n"), std::string::npos) << text;
    EXPECT_NE(text.find(form == ExpositionForm::kPrometheus ? "# TYPE DCGM_ENERGY counter"
                                                            : "# TYPE DCGM_ENERGY unknown"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace pagoda::telemetry
