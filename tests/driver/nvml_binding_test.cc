// The binding: old and new libraries, absent values with their reasons, a GPU that hangs, one that cannot be
// opened.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "driver/nvml.h"

namespace pagoda::driver {
namespace {

using std::chrono::milliseconds;

Nvml open(const char* library) {
  NvmlOptions options;
  options.library = library;
  options.call_deadline = milliseconds(100);
  auto nvml = Nvml::open(options);
  if (!nvml) {
    ADD_FAILURE() << nvml.error().message;
    std::abort();
  }
  return *nvml;
}

TEST(Nvml, SaysWhichLibraryCannotBeLoaded) {
  NvmlOptions options;
  options.library = "/nowhere/libnvidia-ml.so.1";
  const auto nvml = Nvml::open(options);
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, NVML_ERROR_LIBRARY_NOT_FOUND);
  EXPECT_THAT(nvml.error().message, testing::HasSubstr("/nowhere/libnvidia-ml.so.1"));
}

TEST(Nvml, TellsTheLibrarysVersionOnAMismatch) {
  setenv("STAND_IN_MISMATCH", "1", 1);
  NvmlOptions options;
  options.library = NEW_LIBRARY;
  const auto nvml = Nvml::open(options);
  unsetenv("STAND_IN_MISMATCH");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().code, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
  EXPECT_EQ(nvml.error().library_version, "580.178");
}

TEST(Nvml, ReadsValuesTextsListsAndTuples) {
  const Nvml nvml = open(NEW_LIBRARY);
  ASSERT_EQ(nvml.gpus().size(), 3u);
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.text(nvml::kDeviceGetUUID), "GPU-0");
  EXPECT_EQ(gpu.read(nvml::kDeviceGetPowerUsage), 71150u);
  const auto ecc = gpu.read(nvml::kDeviceGetEccMode);
  ASSERT_TRUE(ecc);
  EXPECT_EQ(*ecc, std::make_tuple(NVML_FEATURE_ENABLED, NVML_FEATURE_DISABLED));
  EXPECT_STREQ(gpu.pci()->busId, "00000000:3B:00.0");
  EXPECT_EQ(gpu.memory()->reserved, 100u);
  EXPECT_EQ(nvml.text(nvml::kSystemGetNVMLVersion), "580.178");
}

TEST(Nvml, SettingIsSeenByTheNextRead) {
  const Nvml nvml = open(NEW_LIBRARY);
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_TRUE(gpu.read(nvml::kDeviceSetPowerManagementLimit, 250000u));
  EXPECT_EQ(gpu.read(nvml::kDeviceGetPowerManagementLimit), 250000u);
  const auto refused = gpu.read(nvml::kDeviceSetPowerManagementLimit, 500000u);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, NVML_ERROR_INVALID_ARGUMENT);
}

TEST(Nvml, AbsentValuesKeepTheirReason) {
  const Nvml nvml = open(NEW_LIBRARY);
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_EQ(gpu.read(nvml::kDeviceGetFanSpeed).error().reason, AbsenceReason::kUnsupported);
  EXPECT_EQ(gpu.read(nvml::kDeviceGetIndex).error().reason, AbsenceReason::kLibraryTooOld);
  EXPECT_FALSE(nvml.has(nvml::kDeviceGetIndex));
  const auto lost = nvml.gpus()[2].read(nvml::kDeviceGetPowerUsage);
  EXPECT_EQ(lost.error().reason, AbsenceReason::kLost);
  EXPECT_EQ(lost.error().code, NVML_ERROR_GPU_IS_LOST);
}

TEST(Nvml, FieldsAreAbsentEachOnItsOwn) {
  const Nvml nvml = open(NEW_LIBRARY);
  const NvmlField wanted[] = {{NVML_FI_DEV_MEMORY_TEMP}, {NVML_FI_DEV_POWER_INSTANT}};
  const auto values = nvml.gpus()[0].fields(wanted);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0]->as_signed(), -5);
  EXPECT_EQ(values[0]->as_unsigned(), 0u);
  EXPECT_EQ(values[0]->as_double(), -5.0);
  EXPECT_EQ(values[1].error().reason, AbsenceReason::kUnsupported);
}

TEST(Nvml, GrowsListsUntilAllFits) {
  const Nvml nvml = open(NEW_LIBRARY);
  const auto processes = nvml.gpus()[0].processes(ProcessKind::kCompute);
  ASSERT_TRUE(processes);
  ASSERT_EQ(processes->size(), 20u);
  EXPECT_EQ((*processes)[0].used_bytes.error().reason, AbsenceReason::kUnsupported);
  EXPECT_EQ((*processes)[1].used_bytes, 1000u);
  EXPECT_EQ((*processes)[1].gpu_instance, 7u);
  EXPECT_FALSE((*processes)[2].gpu_instance);
}

TEST(Nvml, AnOldLibrarysFirstVersionsServe) {
  const Nvml nvml = open(OLD_LIBRARY);
  ASSERT_EQ(nvml.gpus().size(), 1u);
  const Gpu& gpu = nvml.gpus()[0];
  EXPECT_STREQ(gpu.pci()->busId, "0000:3B:00.0");
  EXPECT_EQ(gpu.memory()->used, 300u);
  EXPECT_EQ(gpu.memory()->reserved.error().reason, AbsenceReason::kLibraryTooOld);
  const auto processes = gpu.processes(ProcessKind::kCompute);
  ASSERT_TRUE(processes);
  EXPECT_EQ((*processes)[19].used_bytes, 19000u);
  EXPECT_EQ((*processes)[19].gpu_instance.error().reason, AbsenceReason::kLibraryTooOld);
  EXPECT_EQ(gpu.field({NVML_FI_DEV_MEMORY_TEMP}).error().reason, AbsenceReason::kLibraryTooOld);
}

TEST(Nvml, AGpuThatHangsNeitherBlocksNorHidesOthers) {
  const Nvml nvml = open(NEW_LIBRARY);
  const Gpu &healthy = nvml.gpus()[0], &hanging = nvml.gpus()[1];
  EXPECT_EQ(hanging.text(nvml::kDeviceGetUUID), "GPU-1");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(hanging.read(nvml::kDeviceGetPowerUsage).error().reason, AbsenceReason::kTimedOut);
  EXPECT_TRUE(hanging.stuck());
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(hanging.text(nvml::kDeviceGetUUID).error().reason,
              AbsenceReason::kTimedOut);  // refused at once
    EXPECT_EQ(healthy.read(nvml::kDeviceGetPowerUsage), 71150u);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));

  // Let go, it serves again.
  void* library = dlopen(NEW_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  reinterpret_cast<void (*)()>(dlsym(library, "stand_in_let_go"))();
  for (int i = 0; i < 200 && hanging.stuck(); ++i) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_EQ(hanging.read(nvml::kDeviceGetPowerUsage), 71150u);
  dlclose(library);
}

TEST(Nvml, FindsByIndexAndUuid) {
  const Nvml nvml = open(NEW_LIBRARY);
  EXPECT_EQ(nvml.find("0")->index(), 0u);
  EXPECT_EQ(nvml.find("GPU-1")->index(), 1u);
  EXPECT_EQ(nvml.find("GPU-9").error().reason, AbsenceReason::kNotFound);
  EXPECT_EQ(nvml.find("17").error().reason,
            AbsenceReason::kLibraryTooOld);  // a serial number, for this stand-in
}

}  // namespace
}  // namespace pagoda::driver
