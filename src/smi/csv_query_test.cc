#include "smi/csv_query.h"

#include <gmock/gmock.h>

#include <set>

#include "smi/csv_column.h"
#include "smi/gpu_field.h"

namespace pagoda::smi {
namespace {

using ::testing::HasSubstr;

TEST(GpuFields, AreAllThatTheNewestDriverLists) {
  EXPECT_EQ(gpu_fields().size(), 241u);
}

TEST(GpuFields, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const GpuField* field : gpu_fields()) {
    EXPECT_TRUE(names.insert(field->name).second) << field->name;
    EXPECT_TRUE(field->alias.empty() || names.insert(field->alias).second) << field->alias;
    EXPECT_FALSE(field->meaning.empty()) << field->name;
  }
}

TEST(GpuFields, OfASnapshotThatNobodyReadAreAllAbsent) {
  driver::MachineSnapshot machine;
  machine.gpus.emplace_back();
  const OutputStyle style{595};
  for (const GpuField* field : gpu_fields()) {
    if (field->sections == 0 && field->name != "driver_version" && field->name != "kmd_version") continue;
    EXPECT_TRUE(field->read({machine, machine.gpus[0], style}).absent) << field->name;
  }
}

driver::MachineSnapshot machine() {
  driver::MachineSnapshot machine;
  driver::GpuSnapshot& gpu = machine.gpus.emplace_back();
  gpu.power.usage = 71150u;
  gpu.temperature.memory = driver::absent(NVML_ERROR_NOT_SUPPORTED);
  gpu.utilization.gpu = driver::absent(NVML_ERROR_NO_PERMISSION);
  return machine;
}

TEST(CsvQuery, PrintsUnitsAbsencesAndHeaders) {
  const auto query = read_csv_query(QueryKind::kGpu, "power.draw, temperature.memory,utilization.gpu");
  ASSERT_TRUE(query);
  EXPECT_EQ(csv_header(*query, {}), "power.draw [W], temperature.memory, utilization.gpu [%]\n");
  EXPECT_EQ(csv_rows(*query, {}, machine(), {595}), "71.15 W, N/A, [Insufficient Permissions]\n");
  const auto bare = read_csv_format("csv,noheader,nounits");
  EXPECT_EQ(csv_header(*query, *bare), "");
  EXPECT_EQ(csv_rows(*query, *bare, machine(), {595}), "71.15, N/A, [Insufficient Permissions]\n");
}

TEST(CsvQuery, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(read_csv_query(QueryKind::kGpu, "name,x").error().message,
            "Field \"x\" is not a valid field to query.");
  EXPECT_FALSE(read_csv_query(QueryKind::kComputeApps, "temperature.gpu"));
  EXPECT_THAT(read_csv_format("csv,nohead").error().message, HasSubstr("nohead"));
  EXPECT_FALSE(read_csv_format("noheader"));
}

TEST(CsvQuery, ReadsOnlyWhatItShows) {
  EXPECT_EQ(read_csv_query(QueryKind::kGpu, "power.draw")->sections, unsigned{driver::kPowerSection});
  EXPECT_EQ(read_csv_query(QueryKind::kGpu, "index,count")->sections, 0u);
}

TEST(CsvQuery, AGpuWithoutRetiredPagesHasARowPerCause) {
  const auto query = read_csv_query(QueryKind::kRetiredPages, "retired_pages.address,retired_pages.cause");
  driver::MachineSnapshot machine;
  machine.gpus.emplace_back();
  machine.gpus[0].retired.double_bit = std::vector<driver::RetiredPage>{{0x1234, 0}};
  EXPECT_EQ(csv_rows(*query, {}, machine, {595}),
            "[N/A], Single Bit ECC\n0x0000000000001234, Double Bit ECC\n");
}

}  // namespace
}  // namespace pagoda::smi
