// Scenarios as people write them: what comes out, and what is said of a mistake.
#include "simulate/scenario.h"

#include <gmock/gmock.h>

#include "simulate/key_catalogue.h"
#include "simulate/shared_state.h"

namespace pagoda::simulate {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string fault_of(const std::string& text) {
  const auto scenario = parse_scenario(text, "fleet.yaml");
  return scenario ? "" : scenario.error().message;
}

TEST(Scenario, ModelWorkloadAndOwnValuesInThatOrder) {
  const auto scenario = parse_scenario(
      "pagoda_scenario: 1\n"
      "system: {driver_version: 580.95.05}\n"
      "gpus:\n"
      "  - {model: h100, count: 3, workload: training, temperature: {gpu: 77}}\n"
      "  - {model: t4}\n",
      "fleet.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  ASSERT_EQ(scenario->gpus.size(), 4u);
  const Record& gpu = scenario->gpus[2];
  EXPECT_EQ(gpu.at("name").text, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.at("temperature.gpu").number, 77);
  EXPECT_EQ(gpu.at("memory.total").number, 81559.0L * 1048576);
  EXPECT_EQ(gpu.at("pstate").number, 0);
  EXPECT_TRUE(gpu.at("utilization.gpu").curve);
  EXPECT_EQ(scenario->gpus[3].at("name").text, "Tesla T4");
  EXPECT_EQ(scenario->system.at("system.driver_version").text, "580.95.05");
  EXPECT_EQ(scenario->system.at("system.cuda_version").number, 13010);  // from the defaults
}

TEST(Scenario, AWorkloadGivesACardNothingThatItHasNot) {
  const auto scenario = load_scenario("t4:training");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_EQ(scenario->gpus[0].at("temperature.memory").error, NVML_ERROR_NOT_SUPPORTED);
}

TEST(Scenario, NumbersWithUnitsAndReturnCodes) {
  const auto scenario = parse_scenario(
      "{pagoda_scenario: 1, gpus: [{memory: {total: 10 GiB}, power: {limit_mw: 250 W}, pdi: "
      "0xd52bae2e458244e2,\n"
      "  persistence_mode: on, utilization: {gpu: NVML_ERROR_NO_PERMISSION, memory: UNKNOWN}}]}",
      "fleet.yaml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const Record& gpu = scenario->gpus[0];
  EXPECT_EQ(gpu.at("memory.total").number, 10737418240.0L);
  EXPECT_EQ(gpu.at("power.limit_mw").number, 250000);
  EXPECT_EQ(static_cast<unsigned long long>(gpu.at("pdi").number), 0xd52bae2e458244e2ULL);
  EXPECT_EQ(gpu.at("persistence_mode").number, 1);
  EXPECT_EQ(gpu.at("utilization.gpu").error, NVML_ERROR_NO_PERMISSION);
  EXPECT_EQ(gpu.at("utilization.memory").error, NVML_ERROR_UNKNOWN);
}

TEST(Scenario, AMistakeIsToldWithItsLineAndWhatWasMeant) {
  EXPECT_EQ(fault_of("pagoda_scenario: 1\ngpus:\n  - model: h100\n    temperatur:\n      gpu: 95\n"),
            "fleet.yaml:4: there is no value 'temperatur'; `pagoda simulate --keys` lists what there is");
  EXPECT_EQ(fault_of("pagoda_scenario: 1\ngpus:\n  - model: h100\n    temperature:\n      gpuu: 95\n"),
            "fleet.yaml:5: there is no value 'temperature.gpuu'; did you mean 'temperature.gpu'?");
  EXPECT_EQ(fault_of("pagoda_scenario: 1\ngpus:\n- {temperature: {gpu: hot}}\n"),
            "fleet.yaml:3: 'hot' of 'temperature.gpu' is neither a number nor a return code of NVML");
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{model: h1000}]\n"),
              StartsWith("fleet.yaml:2: no model 'h1000'; there are a100, a100-mig,"));
  EXPECT_EQ(fault_of("pagoda_scenario: 2\n"), "fleet.yaml:1: this program reads scenarios of format 1");
  EXPECT_THAT(fault_of("gpus: []\n"), HasSubstr("'pagoda_scenario: 1' is missing"));
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpsu: []\n"), StartsWith("fleet.yaml:2: 'gpsu' is unknown here"));
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{name: [}]\n"), StartsWith("fleet.yaml:2: not YAML: "));
  EXPECT_EQ(fault_of("pagoda_scenario: 1\ngpus: [{pstate: 0, pstate: 2}]\n"),
            "fleet.yaml:2: 'pstate' stands there twice");
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{fields: {DEV_NO_SUCH: 1}}]\n"),
              HasSubstr("nvml.h knows no 'fields.DEV_NO_SUCH'"));
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{pstate: {line: [[5, 1], [2, 0]]}}]\n"),
              HasSubstr("not in the order of their seconds"));
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{pstate: nan}]\n"),
              HasSubstr("'nan' of 'pstate' is neither a number"));
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{memory: {total: 1e40 GiB}}]\n"),
              HasSubstr("neither a number"));
  EXPECT_THAT(fault_of("pagoda_scenario: 1\ngpus: [{count: 1000}]\n"),
              HasSubstr("'count' is a number from 1 to 64"));
}

TEST(Scenario, EveryShippedOneIsInOrder) {
  for (const auto& [name, description] : scenario_descriptions()) {
    const auto scenario = load_scenario(name);
    EXPECT_TRUE(scenario) << scenario.error().message;
    EXPECT_FALSE(description.empty()) << name;
  }
  for (const auto& model : model_names()) {
    for (const auto& workload : workload_names()) {
      const auto scenario = load_scenario(model + "x2:" + workload);
      ASSERT_TRUE(scenario) << scenario.error().message;
      EXPECT_EQ(scenario->gpus.size(), 2u);
    }
  }
}

TEST(Scenario, AnUnknownNameListsWhatThereIs) {
  const auto scenario = load_scenario("h1000x8");
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(scenario.error().message, HasSubstr("mixed-fleet"));
}

TEST(Overlay, WrittenAndReadAgainIsTheSame) {
  const std::string text =
      "epoch_us: 1796087550052272\n"
      "system: {init: DRIVER_NOT_LOADED}\n"
      "gpus:\n"
      "  '0':\n"
      "    temperature.gpu: {line: [[0, 40], [60, 95]], repeat: yes, round: 1}\n"
      "    power.draw_mw: {share_of: power.limit_mw, wave: {mean: 0.5, amplitude: 0.1, period_s: 3}}\n"
      "    memory.used: {value: 0.5, share_of: memory.total}\n"
      "    name: Tom's GPU\n"
      "    pdi: 15360000000000000001\n"
      "    processes: [{pid: 7, name: \"a, b: c\", used_memory: 1 GiB}]\n";
  const auto first = parse_overlay(text, "control.yaml");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = parse_overlay(to_yaml(*first), "control.yaml");
  ASSERT_TRUE(second) << second.error().message << to_yaml(*first);
  EXPECT_EQ(to_yaml(*second), to_yaml(*first));
  const Record& gpu = second->gpus.at("0");
  EXPECT_EQ(gpu.at("name").text, "Tom's GPU");
  EXPECT_EQ(gpu.at("temperature.gpu").curve->at(30, 0), 67.5);
  EXPECT_EQ(static_cast<unsigned long long>(gpu.at("pdi").number), 15360000000000000001ULL);
  EXPECT_EQ(gpu.at("processes").list->at(0).at("name").text, "a, b: c");
}

TEST(Curve, LinesStepsWavesAndSlopes) {
  Curve line;
  line.points = {{0, 10}, {10, 20}};
  EXPECT_EQ(line.at(-1, 0), 10);
  EXPECT_EQ(line.at(5, 0), 15);
  EXPECT_EQ(line.at(99, 0), 20);
  EXPECT_NEAR(line.integral(10, 0), 150, 1e-9);
  line.repeat = true;
  EXPECT_EQ(line.at(25, 0), 15);
  EXPECT_EQ(line.at(25, 1), 16);  // phase
  Curve steps;
  steps.shape = Curve::Shape::kSteps;
  steps.points = {{0, 1}, {10, 2}};
  EXPECT_EQ(steps.at(9.9, 0), 1);
  EXPECT_EQ(steps.at(10, 0), 2);
  Curve wave;
  wave.shape = Curve::Shape::kWave;
  wave.mean = 70, wave.amplitude = 5, wave.period = 8;
  EXPECT_NEAR(wave.at(2, 0), 75, 1e-9);
  EXPECT_NEAR(wave.integral(8, 0), 560, 1e-9);
  Curve slope;
  slope.shape = Curve::Shape::kSlope;
  slope.from = 3, slope.per_second = 2;
  EXPECT_EQ(slope.at(10, 0), 23);
}

TEST(KeyCatalogue, FamiliesAreWrittenOutAndEndWhereTheyShould) {
  EXPECT_NE(find_key("clocks.current.sm"), nullptr);
  EXPECT_NE(find_key("calls.nvmlDeviceGetPowerUsage"), nullptr);
  EXPECT_EQ(find_key("clocks.current"), nullptr);
  EXPECT_TRUE(is_key_prefix("clocks.current"));
  EXPECT_EQ(nearest_key("clocks.curent.sm"), "clocks.current.sm");
}

}  // namespace
}  // namespace pagoda::simulate
