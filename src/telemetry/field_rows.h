// The parts of the catalogue, one file each, and how a row's value is taken from a sample. For
// field_catalogue.cc and the field_rows_*.cc.
#pragma once

#include <vector>

#include "telemetry/field_catalogue.h"

namespace pagoda::telemetry {

using FieldRows = std::vector<FieldRow>;
void add_identity_fields(FieldRows& rows);
void add_activity_fields(FieldRows& rows);
void add_memory_fields(FieldRows& rows);
void add_link_fields(FieldRows& rows);
void add_profiling_fields(FieldRows& rows);

// A text that lives as long as the program; of names made from numbers ("…_L17_TX_BYTES").
std::string_view kept(std::string text);

template <class T>
FieldReading integer(const driver::Reading<T>& reading) {
  return reading.map([](const T& value) -> FieldValue { return static_cast<std::int64_t>(value); });
}
template <class T>
FieldReading real(const driver::Reading<T>& reading, double scale = 1) {
  return reading.map([=](const T& value) -> FieldValue { return static_cast<double>(value) * scale; });
}
inline FieldReading text(const driver::Reading<std::string>& reading) {
  return reading.map([](const std::string& value) -> FieldValue { return value; });
}
inline constexpr std::uint64_t kMebibyte = 1u << 20;
inline FieldReading mebibytes(const driver::Reading<std::uint64_t>& bytes) {
  return bytes.map(
      [](std::uint64_t value) -> FieldValue { return static_cast<std::int64_t>(value / kMebibyte); });
}

// follow<&GpuSnapshot::temperature, &TemperatureReadings::gpu>(snapshot) is snapshot.temperature.gpu.
template <auto First, auto... Rest, class Struct>
const auto& follow(const Struct& from) {
  if constexpr (sizeof...(Rest) == 0) {
    return from.*First;
  } else {
    return follow<Rest...>(from.*First);
  }
}

// Reads of members of the snapshot, for the rows: integer_at<…>, milliwatts_at<…>, …
template <auto... Path>
FieldReading integer_at(const FieldRow&, const EntityReadings& entity) {
  return integer(follow<Path...>(entity.snapshot()));
}
template <auto... Path>
FieldReading watts_at(const FieldRow&, const EntityReadings& entity) {
  return real(follow<Path...>(entity.snapshot()), 1e-3);
}
template <auto... Path>
FieldReading mebibytes_at(const FieldRow&, const EntityReadings& entity) {
  return mebibytes(follow<Path...>(entity.snapshot()));
}
template <auto... Path>
FieldReading text_at(const FieldRow&, const EntityReadings& entity) {
  return text(follow<Path...>(entity.snapshot()));
}

}  // namespace pagoda::telemetry
