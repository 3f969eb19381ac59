// One value of a scenario: what an NVML call answers, as a number, a text, a return code, a list of records,
// or a number that changes with time. Times are seconds since the scenario began.
#pragma once

#include <nvml.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pagoda::simulate {

// Holds every integer that NVML knows, signed and unsigned, exactly (64 bits of mantissa on x86-64, more
// elsewhere).
using Number = long double;

struct Value;
using Record = std::map<std::string, Value, std::less<>>;  // dotted key → value

// A number over time. What is not a constant repeats or goes on; see at().
struct Curve {
  enum class Shape {
    kLine,   // points joined by straight lines; before the first and after the last it is flat
    kSteps,  // points that hold until the next
    kWave,   // mean + amplitude · sin(2π (t + phase) / period)
    kSlope,  // from + per_second · t: a counter
  };
  Shape shape = Shape::kLine;
  std::vector<std::pair<double, double>> points;  // kLine, kSteps: (second, value), seconds ascending
  bool repeat = false;                            // kLine, kSteps: begins again after the last point
  double mean = 0, amplitude = 0, period = 1;     // kWave
  double from = 0, per_second = 0;                // kSlope

  // `phase` (seconds) moves a wave or a repeating series, so that eight GPUs of one workload are not in step.
  double at(double t, double phase) const;
  // ∫ from 0 to t of at(), numerically.
  double integral(double t, double phase) const;
};

struct Value {
  enum class Kind { kNumber, kText, kError, kList, kCurve };
  Kind kind = Kind::kNumber;
  Number number = 0;
  std::string text;
  nvmlReturn_t error = NVML_SUCCESS;
  std::shared_ptr<const std::vector<Record>> list;
  std::shared_ptr<const Curve> curve;
  std::string share_of;     // kNumber, kCurve: times the value of this key
  std::string integral_of;  // kCurve of nothing: the integral of this key's value
  double round = 0;         // to a multiple of this; 0: as it comes
  int line = 0;             // where it stands in its file

  static Value of(Number number) {
    Value value;
    value.number = number;
    return value;
  }
  static Value of_text(std::string text) {
    Value value;
    value.kind = Kind::kText;
    value.text = std::move(text);
    return value;
  }
  static Value of_error(nvmlReturn_t code) {
    Value value;
    value.kind = Kind::kError;
    value.error = code;
    return value;
  }
  static Value of_list(std::vector<Record> records) {
    Value value;
    value.kind = Kind::kList;
    value.list = std::make_shared<const std::vector<Record>>(std::move(records));
    return value;
  }
};

}  // namespace pagoda::simulate
