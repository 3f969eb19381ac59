#include "smi/query_report.h"

#include <gmock/gmock.h>

#include <set>

#include "driver/gpu_snapshot_reader.h"
#include "smi/query_row.h"

namespace pagoda::smi {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

driver::MachineSnapshot machine_with(driver::GpuSnapshot gpu) {
  driver::MachineSnapshot machine;
  machine.driver.version = std::string("595.71.05");
  machine.attached = 1;
  gpu.pci.bus_id = std::string("00000000:01:00.0");
  machine.gpus.push_back(std::move(gpu));
  return machine;
}

TEST(QueryReport, ADisplayShowsItsPartsAlone) {
  driver::GpuSnapshot gpu;
  gpu.temperature.gpu = 51;
  const std::string text = report_as_text(query_report(machine_with(gpu), {595}, kTemperature), {595});
  EXPECT_THAT(
      text, HasSubstr("\n    Temperature\n        GPU Current Temp                               : 51 C\n"));
  EXPECT_THAT(text, Not(HasSubstr("Product Name")));
  EXPECT_THAT(text, Not(HasSubstr("Power")));
}

TEST(QueryReport, MarginsReplaceThresholdsWhereTheChipHasThem) {
  driver::GpuSnapshot gpu;
  gpu.temperature.shutdown_margin = -8;
  const std::string text = report_as_text(query_report(machine_with(gpu), {595}, kTemperature), {595});
  EXPECT_THAT(text, HasSubstr("GPU Shutdown T.Limit Temp                      : -8 C"));
  EXPECT_THAT(text, Not(HasSubstr("GPU Shutdown Temp ")));
}

TEST(QueryReport, BranchesDiffer) {
  const auto machine = machine_with({});
  EXPECT_THAT(report_as_text(query_report(machine, {610}), {610}), HasSubstr("GPU Ceiling Power Limit"));
  EXPECT_THAT(report_as_text(query_report(machine, {595}), {595}), Not(HasSubstr("GPU Ceiling Power Limit")));
  EXPECT_THAT(report_as_text(query_report(machine, {550}), {550}),
              HasSubstr("    Product Name                          : N/A\n"));
}

TEST(QueryReport, AbsenceKeepsItsReason) {
  driver::GpuSnapshot gpu;
  gpu.memory.total = driver::absent(NVML_ERROR_GPU_IS_LOST);
  const auto report = query_report(machine_with(gpu), {595}, kMemory);
  EXPECT_THAT(report_as_text(report, {595}),
              HasSubstr("Total                                          : GPU is lost\n"));
  EXPECT_THAT(report_as_json(report), HasSubstr("\"total_absent\": \"the GPU is lost"));
}

TEST(Displays, AreNamed) {
  EXPECT_EQ(*read_displays("ECC,POWER"), unsigned{kEcc} | unsigned{kPower});
  EXPECT_EQ(*read_displays(""), 0u);
  const auto unknown = read_displays("ECC,HEAT");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("\"HEAT\""));
}

TEST(Displays, EachShowsSomethingAndReadsIt) {
  for (const DisplayName& row : display_names()) {
    const auto report = query_report(machine_with({}), {595}, row.display);
    EXPECT_FALSE(report.children.back().children.empty()) << row.name;
    EXPECT_TRUE(row.sections != 0 || row.display == kVoltage) << row.name;
  }
}

}  // namespace
}  // namespace pagoda::smi
