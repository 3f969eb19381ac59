// The readers of single sections, and how a call's answer becomes a field.
#pragma once

#include "driver/gpu_snapshot.h"
#include "driver/nvml.h"

namespace pagoda::driver {

void read_identity(const Gpu& gpu, GpuSnapshot& out);
void read_inforom(const Gpu& gpu, GpuSnapshot& out);
void read_platform(const Gpu& gpu, GpuSnapshot& out);
void read_pci(const Gpu& gpu, GpuSnapshot& out);
void read_modes(const Gpu& gpu, GpuSnapshot& out);
void read_vgpu(const Nvml& nvml, const Gpu& gpu, GpuSnapshot& out);
void read_performance(const Gpu& gpu, GpuSnapshot& out);
void read_clock_events(const Gpu& gpu, GpuSnapshot& out);
void read_memory(const Gpu& gpu, GpuSnapshot& out);
void read_utilization(const Gpu& gpu, GpuSnapshot& out);
void read_samples(const Gpu& gpu, GpuSnapshot& out);
void read_encoder(const Gpu& gpu, GpuSnapshot& out);
void read_ecc(const Gpu& gpu, GpuSnapshot& out);
void read_retired(const Gpu& gpu, GpuSnapshot& out);
void read_remapped(const Gpu& gpu, GpuSnapshot& out);
void read_temperature(const Gpu& gpu, GpuSnapshot& out);
void read_power(const Gpu& gpu, GpuSnapshot& out);
void read_power_smoothing(const Gpu& gpu, GpuSnapshot& out);
void read_clocks(const Gpu& gpu, GpuSnapshot& out);
void read_supported_clocks(const Gpu& gpu, GpuSnapshot& out);
void read_fabric(const Gpu& gpu, GpuSnapshot& out);
void read_nvlink(const Gpu& gpu, GpuSnapshot& out);
void read_mig(const Gpu& gpu, GpuSnapshot& out);
void read_mig_profiles(const Gpu& gpu, GpuSnapshot& out);
void read_processes(const Nvml& nvml, const Gpu& gpu, GpuSnapshot& out);
void read_accounted(const Gpu& gpu, GpuSnapshot& out);
void read_affinity(const Gpu& gpu, GpuSnapshot& out);
void read_violations(const Gpu& gpu, GpuSnapshot& out);

// An enum or integer of NVML as a number; 0 and others as a flag.
template <class T>
Reading<unsigned> as_number(const Reading<T>& reading) {
  return reading.map([](T value) { return static_cast<unsigned>(value); });
}
template <class T>
Reading<std::uint64_t> as_count(const Reading<T>& reading) {
  return reading.map([](T value) { return static_cast<std::uint64_t>(value); });
}
template <class T>
Reading<int> as_signed(const Reading<T>& reading) {
  return reading.map([](T value) { return static_cast<int>(value); });
}
template <class T>
Reading<bool> as_flag(const Reading<T>& reading) {
  return reading.map([](T value) { return value != T{}; });
}

// A struct that carries its version, otherwise zero.
template <class Struct>
Struct versioned(unsigned version) {
  Struct request{};
  request.version = version;
  return request;
}

// One member of a struct that a call filled: member(info, &nvmlFBCStats_t::averageFPS).
template <class Struct, class Member>
Reading<unsigned> number_of(const Reading<Struct>& reading, Member Struct::*member) {
  return reading.map([=](const Struct& filled) { return static_cast<unsigned>(filled.*member); });
}
template <class Struct, class Member>
Reading<std::uint64_t> count_of(const Reading<Struct>& reading, Member Struct::*member) {
  return reading.map([=](const Struct& filled) { return static_cast<std::uint64_t>(filled.*member); });
}
template <class Struct, class Member>
Reading<bool> flag_of(const Reading<Struct>& reading, Member Struct::*member) {
  return reading.map([=](const Struct& filled) { return filled.*member != 0; });
}

// The first and second output of a call that has two.
template <class A, class B>
Mode as_mode(const Reading<std::tuple<A, B>>& reading) {
  const auto part = [&](auto pick) { return reading.map(pick); };
  return {part([](const auto& both) { return static_cast<unsigned>(std::get<0>(both)); }),
          part([](const auto& both) { return static_cast<unsigned>(std::get<1>(both)); })};
}

// A field of nvmlDeviceGetFieldValues and where it goes.
struct FieldTarget {
  NvmlField field;
  void (*put)(GpuSnapshot& out, const Reading<NvmlFieldValue>& value);
};
void read_fields(const Gpu& gpu, std::span<const FieldTarget> targets, GpuSnapshot& out);

inline Reading<unsigned> field_number(const Reading<NvmlFieldValue>& value) {
  return value.map([](const NvmlFieldValue& v) { return static_cast<unsigned>(v.as_unsigned()); });
}
inline Reading<std::uint64_t> field_count(const Reading<NvmlFieldValue>& value) {
  return value.map([](const NvmlFieldValue& v) { return static_cast<std::uint64_t>(v.as_unsigned()); });
}
inline Reading<int> field_signed(const Reading<NvmlFieldValue>& value) {
  return value.map([](const NvmlFieldValue& v) { return static_cast<int>(v.as_signed()); });
}

// What NVIDIA's own tool knows from elsewhere than public NVML. The simulated library answers by a symbol of
// its own; a real one has none, and the text is absent.
Reading<std::string> read_private_text(const Gpu& gpu, const char* key);

}  // namespace pagoda::driver
