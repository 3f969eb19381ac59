#include "smi/cell.h"

#include "base/format.h"

namespace pagoda::smi {
namespace {

using driver::Absence;
using driver::AbsenceReason;

Cell value(std::string text, std::string_view unit, bool numeric) {
  return {std::move(text), unit, numeric, std::nullopt};
}

template <class Field>
Cell plain(const Field& reading, std::string_view unit) {
  return reading ? value(format("{}", *reading), unit, true) : absent_cell(reading.error());
}

template <class Field>
Cell hexadecimal(const Field& reading, int digits) {
  return reading ? value(format("0x{:0{}X}", *reading, digits), {}, false) : absent_cell(reading.error());
}

template <class Field>
Cell from_milliwatts(const Field& reading) {
  if (!reading) return absent_cell(reading.error());
  return value(format("{:.2f}", static_cast<double>(*reading) / 1000), "W", true);
}

Cell either(const driver::Flag& reading, std::string_view yes, std::string_view no) {
  return reading ? word(*reading ? yes : no) : absent_cell(reading.error());
}

}  // namespace

std::string_view words_of(const Absence& absence) {
  switch (absence.reason) {
    case AbsenceReason::kUnsupported:
    case AbsenceReason::kLibraryTooOld:
    case AbsenceReason::kNotFound:
    case AbsenceReason::kNoData:
      return "N/A";
    case AbsenceReason::kDeprecated:
      return driver::sentence_of(NVML_ERROR_DEPRECATED);
    case AbsenceReason::kNoPermission:
    case AbsenceReason::kLost:
    case AbsenceReason::kTimedOut:
    case AbsenceReason::kFailed:
      return driver::sentence_of(absence.code);
  }
  return driver::sentence_of(NVML_ERROR_UNKNOWN);
}

Cell absent_cell(const Absence& absence) {
  return {std::string(words_of(absence)), {}, false, absence};
}

Cell not_available() {
  return absent_cell({AbsenceReason::kUnsupported, NVML_ERROR_NOT_SUPPORTED});
}

Cell deprecated() {
  return absent_cell({AbsenceReason::kDeprecated, NVML_ERROR_DEPRECATED});
}

Cell word(std::string_view text) {
  return value(std::string(text), {}, false);
}

Cell text(const driver::Text& reading) {
  return reading ? word(*reading) : absent_cell(reading.error());
}

Cell number(const driver::Number& reading, std::string_view unit) {
  return plain(reading, unit);
}

Cell number(const driver::Count& reading, std::string_view unit) {
  return plain(reading, unit);
}

Cell number(const driver::Signed& reading, std::string_view unit) {
  return plain(reading, unit);
}

Cell hex(const driver::Number& reading, int digits) {
  return hexadecimal(reading, digits);
}

Cell hex(const driver::Count& reading, int digits) {
  return hexadecimal(reading, digits);
}

std::uint64_t whole_mib(std::uint64_t bytes) {
  constexpr std::uint64_t kMib = 1 << 20;
  return bytes / kMib + (bytes % kMib != 0 ? 1 : 0);
}

Cell mib(const driver::Count& bytes) {
  return bytes ? value(format("{}", whole_mib(*bytes)), "MiB", true) : absent_cell(bytes.error());
}

Cell watts(const driver::Number& milliwatts) {
  return from_milliwatts(milliwatts);
}

Cell watts(const driver::Count& milliwatts) {
  return from_milliwatts(milliwatts);
}

Cell enabled_disabled(const driver::Flag& reading) {
  return either(reading, "Enabled", "Disabled");
}

Cell yes_no(const driver::Flag& reading) {
  return either(reading, "Yes", "No");
}

Cell active(const driver::Count& bits, std::uint64_t bit) {
  return bits ? word((*bits & bit) != 0 ? "Active" : "Not Active") : absent_cell(bits.error());
}

std::string with_unit(const Cell& cell) {
  return cell.unit.empty() ? cell.text : format("{} {}", cell.text, cell.unit);
}

}  // namespace pagoda::smi
