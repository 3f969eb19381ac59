// Computing or waiting, and for what, from numbers alone.
#include "faults/load_words.h"

#include <gtest/gtest.h>

namespace pagoda::faults {
namespace {

using enum Quantity;

GpuRecord record_of(std::initializer_list<std::pair<Quantity, double>> values, int samples = 5) {
  GpuRecord gpu;
  for (const auto& [quantity, value] : values) {
    for (int i = 0; i < samples; ++i) gpu.courses[static_cast<size_t>(quantity)].add(value);
    gpu.last[quantity].value = value;
  }
  return gpu;
}

TEST(LoadWords, ByUtilization) {
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 99}, {kMemoryUtilization, 30}})), "compute-bound");
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 90}, {kMemoryUtilization, 85}})), "bandwidth-bound");
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 30}, {kMemoryUtilization, 65}})), "bandwidth-bound");
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 99}})), "busy");
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 0}, {kMemoryUtilization, 0}})), "idle");
  EXPECT_EQ(load_in_words(GpuRecord()), "");
}

TEST(LoadWords, ProfilingIsBelievedMore) {
  // Utilization only says that some kernel ran.
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 100},
                                     {kMemoryUtilization, 20},
                                     {kGraphicsActivity, 100},
                                     {kSmActivity, 12},
                                     {kTensorActivity, 2},
                                     {kDramActivity, 9}})),
            "busy with few of its units: small kernels, or one request at a time");
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 100}, {kSmActivity, 90}, {kDramActivity, 82}})),
            "bandwidth-bound");
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 100}, {kSmActivity, 90}, {kDramActivity, 40}})),
            "compute-bound");
}

GpuRecord waiting(ProcessActivity process) {
  GpuRecord gpu = record_of(
      {{kGpuUtilization, 12}, {kMemoryUtilization, 3}, {kMemoryUsed, 40000}, {kMemoryTotal, 81920}});
  process.pid = 4711;
  process.name = "python3";
  gpu.processes.push_back(process);
  return gpu;
}

TEST(LoadWords, WhatAStarvedGpuWaitsFor) {
  ProcessActivity process;
  EXPECT_EQ(load_in_words(waiting(process)).substr(0, 14), "waits for work");
  process.busiest_thread = 0.98;
  process.cpus = 1.2;
  EXPECT_EQ(
      load_in_words(waiting(process)),
      "waits for the CPU (one thread of process 4711 python3 runs or is ready to in 98 % of the time, 1.2 "
      "CPUs in all)");
  process.disk_mb_per_s = 230;
  EXPECT_EQ(load_in_words(waiting(process)),
            "waits for the disk (process 4711 python3 moves 230 MB/s and sleeps for it in 0 % of the looks)");
  GpuRecord gpu = waiting({});
  gpu.network = {"eth0", 1100, 1250};
  EXPECT_EQ(load_in_words(gpu), "waits for the network (eth0 carries 1100 of 1250 MB/s)");
  gpu.network.speed_mb_per_s = 0;
  EXPECT_EQ(load_in_words(gpu).substr(0, 14), "waits for work");
}

TEST(LoadWords, OneReadingIsNoJudgement) {
  EXPECT_EQ(load_in_words(record_of({{kGpuUtilization, 12}, {kMemoryUsed, 40000}, {kMemoryTotal, 81920}}, 1)),
            "little load");
}

}  // namespace
}  // namespace pagoda::faults
