#include "smi/summary_table.h"

#include <gmock/gmock.h>

#include "smi/cell.h"
#include "smi/process_names.h"

namespace pagoda::smi {
namespace {

using driver::absent;
using ::testing::HasSubstr;

driver::MachineSnapshot one_gpu() {
  driver::MachineSnapshot machine;
  machine.driver.version = std::string("590.48.01");
  machine.driver.cuda = 13010u;
  machine.attached = 1;
  driver::GpuSnapshot& gpu = machine.gpus.emplace_back();
  gpu.identity.name = std::string("NVIDIA A Card With A Rather Long Name");
  gpu.pci.bus_id = std::string("00000000:3B:00.0");
  gpu.modes.persistence = true;
  gpu.modes.ecc.current = 1u;
  gpu.ecc.volatile_uncorrected.total = std::uint64_t{2};
  gpu.fan_percent = 100u;
  gpu.temperature.gpu = 87;
  gpu.performance_state = 12u;
  gpu.power.usage = 250999u;
  gpu.power.gpu.limit_requested = 1000000u;
  gpu.memory.used = std::uint64_t{1};
  gpu.memory.total = std::uint64_t{80} << 30;
  gpu.utilization.gpu = 100u;
  gpu.modes.compute = 3u;
  gpu.modes.mig = {0u, 1u};
  gpu.compute_processes = std::vector<driver::GpuProcess>{};
  return machine;
}

TEST(SummaryTable, EveryLineIsAsWideAsItsEdge) {
  const std::string table = summary_table(one_gpu(), {590});
  size_t lines = 0;
  for (size_t begin = table.find('\n') + 1; begin < table.size(); ++lines) {
    const size_t end = table.find('\n', begin);
    const size_t length = end - begin;
    EXPECT_TRUE(length == 0 || length == 91) << table.substr(begin, length);
    begin = end + 1;
  }
  EXPECT_GT(lines, 15u);
}

TEST(SummaryTable, ShowsWhatWasRead) {
  const std::string table = summary_table(one_gpu(), {590});
  EXPECT_THAT(
      table,
      HasSubstr(
          "|   0  NVIDIA A Card With A Rat...    On  |   00000000:3B:00.0 N/A |                    2 |\n"));
  EXPECT_THAT(
      table,
      HasSubstr(
          "|100%   87C    P12           250W / 1000W |       1MiB /  81920MiB |    100%   E. Process |\n"));
  EXPECT_THAT(table, HasSubstr("|            Disabled* |\n"));
  EXPECT_THAT(table, HasSubstr("No running processes found"));
}

TEST(SummaryTable, AReadingThatFailedIsAloneInSayingSo) {
  driver::MachineSnapshot machine = one_gpu();
  machine.gpus[0].temperature.gpu = absent(NVML_ERROR_UNKNOWN);
  machine.gpus[0].fan_percent = absent(NVML_ERROR_NOT_SUPPORTED);
  const std::string table = summary_table(machine, {590});
  EXPECT_THAT(table, HasSubstr("| N/A  ERR!    P12           250W / 1000W |"));
}

TEST(SummaryTable, AFailedReadingLeavesTheColumnsStraight) {
  driver::MachineSnapshot machine = one_gpu();
  machine.gpus[0].modes.persistence = absent(NVML_ERROR_GPU_IS_LOST);
  machine.gpus[0].modes.compute = absent(NVML_ERROR_GPU_IS_LOST);
  const std::string table = summary_table(machine, {590});
  EXPECT_THAT(table, HasSubstr("A Rat...    ERR!|   00000000:3B:00.0 N/A |"));
  EXPECT_THAT(table, HasSubstr("    100%         ERR! |\n"));
}

TEST(SummaryTable, WhatNobodyReadIsNotZero) {
  driver::MachineSnapshot machine;
  machine.gpus.emplace_back();
  const std::string table = summary_table(machine, {590});
  EXPECT_THAT(table, HasSubstr("N/A /  N/A"));
  EXPECT_THAT(table, ::testing::Not(HasSubstr("0W")));
  EXPECT_THAT(table, ::testing::Not(HasSubstr("0%")));
}

TEST(ProcessTable, SortsByPidAndJoinsWhatIsBoth) {
  driver::MachineSnapshot machine = one_gpu();
  driver::GpuProcess second, first;
  second.pid = 900;
  second.compute = true;
  second.name = std::string("b");
  first.pid = 30;
  first.compute = true;
  first.name = std::string("a");
  machine.gpus[0].compute_processes = std::vector{second, first};
  second.compute = false;
  second.graphics = true;
  machine.gpus[0].graphics_processes = std::vector{second};
  const std::string table = process_table(machine, {590});
  EXPECT_LT(table.find("30      C   a"), table.find("900    C+G   b"));
}

TEST(Processes, LongNamesKeepTheirEnd) {
  EXPECT_EQ(cut_on_the_left("/usr/lib/something/very-long", 12), "...very-long");
  EXPECT_EQ(cut_on_the_left("short", 12), "short");
}

}  // namespace
}  // namespace pagoda::smi
