// Cell: one reading in words, the same for the table, -q, CSV, XML and JSON, which only differ in what they
// put around it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "driver/gpu_readings.h"

namespace pagoda::smi {

struct Cell {
  std::string text;  // the value without its unit, or the words for its absence
  std::string_view unit;
  bool numeric = false;                   // `text` is a number in decimal
  std::optional<driver::Absence> absent;  // why there is no value
};

// What NVIDIA's tool prints in place of a value: "N/A", "Insufficient Permissions", "GPU is lost" …
std::string_view words_of(const driver::Absence& absence);

Cell absent_cell(const driver::Absence& absence);
// For what no public call of the driver tells.
Cell not_available();
Cell deprecated();
Cell word(std::string_view text);

Cell text(const driver::Text& reading);
Cell number(const driver::Number& reading, std::string_view unit = {});
Cell number(const driver::Count& reading, std::string_view unit = {});
Cell number(const driver::Signed& reading, std::string_view unit = {});
// 0x0C: at least `digits` hexadecimal digits.
Cell hex(const driver::Number& reading, int digits);
Cell hex(const driver::Count& reading, int digits);
// Bytes as MiB, a started one counted whole.
std::uint64_t whole_mib(std::uint64_t bytes);
Cell mib(const driver::Count& bytes);
// Milliwatts as 71.15 W.
Cell watts(const driver::Number& milliwatts);
Cell watts(const driver::Count& milliwatts);

Cell enabled_disabled(const driver::Flag& reading);
Cell yes_no(const driver::Flag& reading);
// "Active" where the bits hold `bit`.
Cell active(const driver::Count& bits, std::uint64_t bit);

// A number's word from a table of them; "Unknown" for one that the table lacks.
struct NumberWord {
  unsigned number;
  std::string_view word;
};
template <class Table>
Cell named(const driver::Number& reading, const Table& table) {
  if (!reading) return absent_cell(reading.error());
  for (const NumberWord& row : table) {
    if (row.number == *reading) return word(row.word);
  }
  return word("Unknown");
}

// "59 MiB", "N/A".
std::string with_unit(const Cell& cell);

}  // namespace pagoda::smi
