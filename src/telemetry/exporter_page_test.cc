#include "telemetry/exporter_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pagoda::telemetry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr auto kLost = driver::AbsenceReason::kLost;

template <class T>
void lose(driver::Field<T>& field) {
  field = tl::unexpected<driver::Absence>(driver::Absence{kLost, NVML_ERROR_GPU_IS_LOST});
}

// Two GPUs that answer, the second in MIG mode with two instances, one of which has two compute instances.
GpuSample two_gpus() {
  GpuSample sample;
  sample.machine.driver.version = std::string("590.48.01");
  for (unsigned i = 0; i < 2; ++i) {
    driver::GpuSnapshot gpu;
    gpu.index = i;
    gpu.identity.uuid = "GPU-" + std::to_string(i);
    gpu.identity.name = std::string("NVIDIA \"H100\"");
    gpu.pci.bus_id = std::string("00000000:3B:00.0");
    gpu.temperature.gpu = 60 + static_cast<int>(i);
    gpu.memory.used = std::uint64_t{1} << 30;
    gpu.clock_events.active = std::uint64_t{0x40};
    sample.machine.gpus.push_back(gpu);
  }
  const struct {
    unsigned gpu_instance, compute_instance;
    const char* name;
  } kDevices[] = {{1, 0, "3g.40gb"}, {2, 0, "1c.2g.20gb"}, {2, 1, "1c.2g.20gb"}};
  for (const auto& device : kDevices) {
    driver::MigDevice mig;
    mig.name = std::string(device.name);
    mig.uuid = "MIG-" + std::to_string(device.gpu_instance) + std::to_string(device.compute_instance);
    mig.gpu_instance = device.gpu_instance;
    mig.compute_instance = device.compute_instance;
    mig.memory.used = (std::uint64_t{10} + device.gpu_instance) << 20;
    sample.machine.gpus[1].mig.devices.push_back(mig);
  }
  sample.activity.resize(2);
  sample.activity[0].last_xid = std::optional<XidEvent>(XidEvent{0, 79, {}, {}, {}});
  sample.activity[1].last_xid = std::optional<XidEvent>();
  return sample;
}

ExporterPlan plan_of(std::string_view counters) {
  const auto lines = parse_counters(counters, "c");
  EXPECT_TRUE(lines) << lines.error().message;
  auto plan = plan_export(*lines, "c");
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

class Page {
 public:
  GpuSample sample = two_gpus();
  LabelStyle style{"node-1", false, false};
  JobsByGpu jobs;
  std::vector<PodDevice> pods;
  std::vector<XidEvent> xids;
  XidTotals totals;

  std::string text(std::string_view counters, std::string_view devices = "f",
                   ExpositionForm form = ExpositionForm::kPrometheus) {
    const ExporterPlan plan = plan_of(counters);
    EntityNames names(style, *parse_device_choice(devices));
    names.learn(two_gpus());
    names.learn(sample);
    const auto entities = names.entities(sample, plan.labels, jobs, pods);
    const auto gpus = names.gpus(sample);
    const ExporterScene scene{plan,
                              sample,
                              entities,
                              gpus,
                              xids,
                              totals,
                              clock_events,
                              {},
                              {},
                              300s,
                              300s,
                              {},
                              std::chrono::system_clock::time_point{1000s},
                              [](unsigned xid) { return xid == 79 ? "fell off the bus" : ""; },
                              "1.0",
                              1,
                              0.5};
    return write_page(form, scene);
  }

 private:
  ClockEventRecord clock_events{300s};
};

constexpr std::string_view kTemperature = "DCGM_FI_DEV_GPU_TEMP, gauge, Heat.\n";

TEST(ExporterPage, LinesAreThoseOfDcgmExporter) {
  Page page;
  EXPECT_THAT(page.text("DCGM_FI_DEV_GPU_TEMP, gauge, Heat.\nDCGM_FI_DRIVER_VERSION, label, Driver.\n"),
              HasSubstr("# HELP DCGM_FI_DEV_GPU_TEMP Heat.\n# TYPE DCGM_FI_DEV_GPU_TEMP gauge\n"
                        "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-0\",pci_bus_id=\"00000000:3B:00.0\","
                        "device=\"nvidia0\",modelName=\"NVIDIA \\\"H100\\\"\",Hostname=\"node-1\","
                        "DCGM_FI_DRIVER_VERSION=\"590.48.01\"} 60\n"));
}

TEST(ExporterPage, InstancesHaveTheirLabelsAndTheBoardsTemperature) {
  Page page;
  const std::string text =
      page.text("DCGM_FI_DEV_GPU_TEMP, gauge, Heat.\nDCGM_FI_DEV_FB_USED, gauge, Memory.\n");
  EXPECT_THAT(text, HasSubstr("GPU_I_PROFILE=\"3g.40gb\",GPU_I_ID=\"1\",Hostname=\"node-1\"} 61\n"));
  EXPECT_THAT(text, HasSubstr("GPU_I_PROFILE=\"2g.20gb\",GPU_I_ID=\"2\",Hostname=\"node-1\"} 12\n"));
  EXPECT_THAT(page.text(kTemperature, "g"), Not(HasSubstr("GPU_I_ID")));
  EXPECT_THAT(page.text(kTemperature, "i:1"), Not(HasSubstr("GPU_I_ID=\"1\"")));
  EXPECT_THAT(page.text(kTemperature, "i:1"), HasSubstr("GPU_I_ID=\"2\""));
}

TEST(ExporterPage, TheXidHasItsCodeItsWordsItsTimeAndItsNumber) {
  Page page;
  page.xids = {{0, 79, {}, {}, std::chrono::system_clock::time_point{900s}}};
  page.totals[0][79] = 1;
  const std::string text =
      page.text("DCGM_FI_DEV_XID_ERRORS, gauge, XID.\nDCGM_EXP_XID_ERRORS_COUNT, gauge, XIDs.\n", "g");
  EXPECT_THAT(text, HasSubstr("err_code=\"79\",err_msg=\"fell off the bus\"} 79\n"));
  EXPECT_THAT(text, HasSubstr("err_code=\"0\",err_msg=\"No Error\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("window_size_in_ms=\"300000\",xid=\"79\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("pagoda_gpu_xid_errors_total{gpu=\"0\""));
  EXPECT_THAT(text, HasSubstr("xid=\"79\"} 900.0\n"));
}

TEST(ExporterPage, ALostGpuKeepsItsNameAndHasNoValues) {
  Page page;
  driver::GpuSnapshot& lost = page.sample.machine.gpus[0];
  lose(lost.identity.uuid);
  lose(lost.temperature.gpu);
  const std::string text = page.text(kTemperature, "g");
  EXPECT_THAT(text, HasSubstr("pagoda_gpu_up{gpu=\"0\",UUID=\"GPU-0\""));
  EXPECT_THAT(text, testing::ContainsRegex("pagoda_gpu_up\\{gpu=\"0\"[^}]*\\} 0\n"));
  EXPECT_THAT(text, testing::ContainsRegex("pagoda_gpu_up\\{gpu=\"1\"[^}]*\\} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("DCGM_FI_DEV_GPU_TEMP{gpu=\"0\"")));
  EXPECT_THAT(text, testing::ContainsRegex("pagoda_gpu_absent_fields\\{gpu=\"0\"[^}]*reason=[^}]*\\} 1\n"));
}

TEST(ExporterPage, ACardThatAnswersFromMemoryAloneIsLost) {
  GpuSample sample = two_gpus();
  EXPECT_TRUE(answers(sample.machine.gpus[0]));
  lose(sample.machine.gpus[0].temperature.gpu);
  EXPECT_TRUE(answers(sample.machine.gpus[0]));
  lose(sample.machine.gpus[0].memory.used);
  lose(sample.machine.gpus[0].clock_events.active);
  EXPECT_FALSE(answers(sample.machine.gpus[0]));
}

TEST(ExporterPage, PodsAreFoundByEveryFormOfDeviceId) {
  Page page;
  page.pods = {{"GPU-0::3", "train-0", "ml", "main"},
               {"GPU-0::4", "train-0", "ml", "main"},
               {"MIG-20", "infer-1", "ml", "web"}};
  const std::string text = page.text(kTemperature);
  EXPECT_THAT(text,
              HasSubstr("Hostname=\"node-1\",container=\"main\",namespace=\"ml\",pod=\"train-0\"} 60\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "GPU_I_ID=\"2\",Hostname=\"node-1\",container=\"web\",namespace=\"ml\",pod=\"infer-1\"} 61\n"));
  EXPECT_EQ(text.find("train-0"), text.rfind("train-0"));  // two shares in one container: one series
  page.style.old_names = true;
  EXPECT_THAT(page.text(kTemperature),
              HasSubstr("container_name=\"main\",pod_namespace=\"ml\",pod_name=\"train-0\""));
  page.pods = {{"nvidia0", "by-name", "ml", "main"}};
  EXPECT_THAT(page.text(kTemperature), HasSubstr("by-name"));
}

TEST(ExporterPage, EachJobHasASeries) {
  Page page;
  page.jobs[0] = {"4711", "4712"};
  const std::string text = page.text(kTemperature, "g");
  EXPECT_THAT(text, HasSubstr("hpc_job=\"4711\"} 60\n"));
  EXPECT_THAT(text, HasSubstr("hpc_job=\"4712\"} 60\n"));
}

std::string plan_error(std::string_view counters) {
  const auto plan = plan_export(*parse_counters(counters, "c.csv"), "c.csv");
  return plan ? "no error" : plan.error().message;
}

TEST(ExporterPlan, MistakesNameTheLine) {
  EXPECT_THAT(plan_error("# c\nDCGM_FI_DEV_NONSENSE, gauge, x"),
              HasSubstr("c.csv, line 2: DCGM_FI_DEV_NONSENSE is not a field of DCGM"));
  EXPECT_THAT(plan_error("gpu_temp, gauge, x"), HasSubstr("gpu_temp is not a field"));  // a tag of dcgmi
  EXPECT_THAT(plan_error("DCGM_FI_DEV_NAME, gauge, x"), HasSubstr("is a text"));
  EXPECT_THAT(plan_error("DCGM_EXP_XID_ERRORS_COUNT, label, x"), HasSubstr("cannot be a label"));
}

TEST(ExporterPlan, BuiltInCountersAreInOrder) {
  const ExporterPlan plan = plan_of(built_in_counters());
  EXPECT_TRUE(plan.warnings.empty());
  EXPECT_GE(plan.series.size(), 30u);
  EXPECT_TRUE(plan.needs.xids);
}

TEST(ExporterPlan, EveryCommentedFieldOfTheBuiltInCountersIsKnown) {
  std::string text(built_in_counters());
  for (size_t at = 0; (at = text.find("# DCGM_", at)) != std::string::npos;) text.erase(at, 2);
  EXPECT_EQ(plan_error(text), "no error");
}

TEST(ExporterPlan, FieldsOfOtherThingsAreLeftOutWithAWarning) {
  const ExporterPlan plan =
      plan_of("DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT, gauge, x\nDCGM_FI_DEV_GPU_TEMP, gauge, x\n");
  EXPECT_EQ(plan.series.size(), 1u);
  EXPECT_THAT(plan.warnings, testing::ElementsAre(HasSubstr("belongs to NVSwitches")));
}

}  // namespace
}  // namespace pagoda::telemetry
