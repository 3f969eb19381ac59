#include "simulate/record_parser.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>

#include "base/format.h"
#include "driver/nvml_reading.h"
#include "simulate/key_catalogue.h"
#include "simulate/shipped.h"

namespace pagoda::simulate {
namespace {

struct Word {
  std::string_view word;
  Number number;
};
constexpr std::array kWords = {Word{"on", 1},   Word{"off", 0},   Word{"yes", 1},     Word{"no", 0},
                               Word{"true", 1}, Word{"false", 0}, Word{"enabled", 1}, Word{"disabled", 0}};
constexpr std::array kUnits = {Word{"KiB", 1024.0L}, Word{"MiB", 1048576.0L}, Word{"GiB", 1073741824.0L},
                               Word{"TiB", 1099511627776.0L}, Word{"W", 1000.0L}};

// What fits into one of NVML's integers; no infinity, no NaN.
bool is_sensible(Number number) {
  return number >= -9223372036854775808.0L && number <= 18446744073709551615.0L;
}

// The words of a value that changes with time.
constexpr std::array<std::string_view, 9> kCurveWords = {"value",  "line",     "steps",       "wave", "slope",
                                                         "repeat", "share_of", "integral_of", "round"};

// fields.NAME and gpm.NAME are names (or numbers) of nvml.h; other keys are known by their rows.
bool is_known_name(const std::string& key) {
  const bool field = key.starts_with("fields."), metric = key.starts_with("gpm.") && key != "gpm.supported";
  if (!field && !metric) return true;
  const std::string name = key.substr(key.find('.') + 1);
  for (const NvmlName& row : field ? field_names() : gpm_metric_names()) {
    if (name == row.name || name == std::to_string(row.number)) return true;
  }
  return false;
}

class RecordParser {
 public:
  RecordParser(const std::string& file, Record& record) : file_(file), record_(record) {}

  Status mapping(const YAML::Node& node, const std::string& prefix,
                 std::span<const std::string_view> reserved) {
    if (!node.IsMap()) return fail_at(node, file_, "expected a mapping of keys to values");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const std::string word = entry.first.as<std::string>();
      if (!seen.insert(word).second)
        return fail_at(entry.first, file_, format("'{}' stands there twice", word));
      if (std::find(reserved.begin(), reserved.end(), word) != reserved.end()) continue;
      PAGODA_TRY(entry_of(entry.first, entry.second, prefix + word));
    }
    return {};
  }

 private:
  Status entry_of(const YAML::Node& name, const YAML::Node& node, const std::string& key) {
    const KeyRow* row = find_key(key);
    if (row == nullptr) {
      if (is_key_prefix(key) && node.IsMap()) return mapping(node, key + ".", {});
      if (is_key_prefix(key))
        return fail_at(name, file_, format("'{}' is a group of values, not one value", key));
      return unknown(name, key);
    }
    if (!is_known_name(key)) return fail_at(name, file_, format("nvml.h knows no '{}'", key));
    PAGODA_ASSIGN(Value value, value_of(node, *row, key));
    value.line = node.Mark().line + 1;
    record_[key] = std::move(value);
    return {};
  }

  Unexpected unknown(const YAML::Node& name, const std::string& key) const {
    const std::string near = nearest_key(key);
    const std::string remedy =
        near.empty() ? "`pagoda simulate --keys` lists what there is" : format("did you mean '{}'?", near);
    return fail_at(name, file_, format("there is no value '{}'; {}", key, remedy));
  }

  Result<Value> value_of(const YAML::Node& node, const KeyRow& row, const std::string& key) {
    if (node.IsScalar() || node.IsNull()) {
      const std::string text = node.IsNull() ? "" : node.Scalar();
      if (const auto code = parse_return_code(text)) return Value::of_error(*code);
      if (row.kind == KeyKind::kText) return Value::of_text(text);
      if (row.kind == KeyKind::kList) return fail_at(node, file_, format("'{}' is a list of mappings", key));
      const auto number = parse_number(text);
      if (number) return Value::of(*number);
      return fail_at(node, file_,
                     format("'{}' of '{}' is neither a number nor a return code of NVML", text, key));
    }
    if (row.kind == KeyKind::kList && node.IsSequence()) return list_of(node, key);
    if (row.kind == KeyKind::kNumber && node.IsMap()) return changing(node, key);
    const std::string_view wanted = row.kind == KeyKind::kText   ? "a text"
                                    : row.kind == KeyKind::kList ? "a list of mappings"
                                                                 : "a number";
    return fail_at(node, file_, format("'{}' is {}", key, wanted));
  }

  Result<Value> list_of(const YAML::Node& node, const std::string& key) {
    std::vector<Record> records;
    for (const auto& item : node) {
      Record fields;
      RecordParser inner(file_, fields);
      PAGODA_TRY(inner.mapping(item, key + ".", {}));
      // Within its list a record's keys are known without the list's name.
      Record shortened;
      for (auto& [name, value] : fields) shortened[name.substr(key.size() + 1)] = std::move(value);
      records.push_back(std::move(shortened));
    }
    return Value::of_list(std::move(records));
  }

  Result<double> number_in(const YAML::Node& node, const std::string& what) {
    const auto number = node.IsScalar() ? parse_number(node.Scalar()) : std::nullopt;
    if (!number) return fail_at(node, file_, format("{} is not a number", what));
    return static_cast<double>(*number);
  }

  Status points_of(const YAML::Node& node, const std::string& key, Curve& curve) {
    if (!node.IsSequence() || node.size() == 0)
      return fail_at(node, file_, format("'{}' wants points [[second, value], …]", key));
    for (const auto& point : node) {
      if (!point.IsSequence() || point.size() != 2)
        return fail_at(point, file_, format("a point of '{}' is [second, value]", key));
      PAGODA_ASSIGN(const double second, number_in(point[0], format("the second of a point of '{}'", key)));
      PAGODA_ASSIGN(const double value, number_in(point[1], format("the value of a point of '{}'", key)));
      if (!curve.points.empty() && second <= curve.points.back().first)
        return fail_at(point, file_, format("the points of '{}' are not in the order of their seconds", key));
      curve.points.emplace_back(second, value);
    }
    return {};
  }

  // {wave: {mean: 70, amplitude: 5, period_s: 20}}, {slope: {from: 0, per_second: 3}}
  Status parameters_of(const YAML::Node& node, const std::string& key,
                       std::span<const std::pair<std::string_view, double*>> places) {
    if (!node.IsMap()) return fail_at(node, file_, format("'{}' wants a mapping of parameters", key));
    for (const auto& entry : node) {
      const std::string word = entry.first.as<std::string>();
      const auto place =
          std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.first == word; });
      if (place == places.end())
        return fail_at(entry.first, file_, format("'{}' is no parameter of '{}'", word, key));
      PAGODA_ASSIGN(*place->second, number_in(entry.second, format("'{}' of '{}'", word, key)));
    }
    return {};
  }

  Status curve_of(const std::string& word, const YAML::Node& node, const std::string& key, Curve& curve) {
    using Places = std::array<std::pair<std::string_view, double*>, 3>;
    if (word == "wave") {
      curve.shape = Curve::Shape::kWave;
      const Places places = {
          {{"mean", &curve.mean}, {"amplitude", &curve.amplitude}, {"period_s", &curve.period}}};
      PAGODA_TRY(parameters_of(node, key, places));
      if (curve.period <= 0) return fail_at(node, file_, format("the period of '{}' is not above 0", key));
      return {};
    }
    if (word == "slope") {
      curve.shape = Curve::Shape::kSlope;
      const Places places = {{{"from", &curve.from}, {"per_second", &curve.per_second}, {"", nullptr}}};
      return parameters_of(node, key, std::span(places).first(2));
    }
    curve.shape = word == "line" ? Curve::Shape::kLine : Curve::Shape::kSteps;
    return points_of(node, key, curve);
  }

  Status named_key(const YAML::Node& node, const std::string& key, std::string& place) {
    place = node.IsScalar() ? node.Scalar() : "";
    const KeyRow* row = find_key(place);
    if (row == nullptr || row->kind != KeyKind::kNumber)
      return fail_at(node, file_, format("'{}' refers to '{}', which is no number of a GPU", key, place));
    return {};
  }

  Result<Value> changing(const YAML::Node& node, const std::string& key) {
    Value value = Value::of(1);
    Curve curve;
    bool has_curve = false;
    for (const auto& entry : node) {
      const std::string word = entry.first.as<std::string>();
      if (std::find(kCurveWords.begin(), kCurveWords.end(), word) == kCurveWords.end())
        return fail_at(entry.first, file_,
                       format("'{}' says nothing of the number '{}'; known are {}", word, key,
                              fmt::join(kCurveWords, ", ")));
      if (word == "share_of") {
        PAGODA_TRY(named_key(entry.second, key, value.share_of));
      } else if (word == "integral_of") {
        PAGODA_TRY(named_key(entry.second, key, value.integral_of));
      } else if (word == "repeat") {
        PAGODA_ASSIGN(const double repeat, number_in(entry.second, format("'repeat' of '{}'", key)));
        curve.repeat = repeat != 0;
      } else if (word == "round") {
        PAGODA_ASSIGN(value.round, number_in(entry.second, format("'round' of '{}'", key)));
      } else if (word == "value") {
        PAGODA_ASSIGN(value.number, number_in(entry.second, format("'value' of '{}'", key)));
      } else {
        PAGODA_TRY(curve_of(word, entry.second, key, curve));
        has_curve = true;
      }
    }
    if (has_curve) {
      value.kind = Value::Kind::kCurve;
      value.curve = std::make_shared<const Curve>(std::move(curve));
    }
    return value;
  }

  const std::string& file_;
  Record& record_;
};

}  // namespace

Unexpected fail_at(const YAML::Node& node, const std::string& file, const std::string& message) {
  return fail(ErrorCode::kInvalidArgument, format("{}:{}: {}", file, node.Mark().line + 1, message));
}

std::optional<Number> parse_number(const std::string& text) {
  for (const auto& row : kWords) {
    if (text == row.word) return row.number;
  }
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const Number number = std::strtold(text.c_str(), &end);  // reads 0x… too
  if (end == text.c_str()) return std::nullopt;
  if (!is_sensible(number)) return std::nullopt;
  const std::string_view rest(end);
  if (rest.empty()) return number;
  const std::string_view unit = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
  for (const auto& row : kUnits) {
    if (unit == row.word && is_sensible(number * row.number)) return number * row.number;
  }
  return std::nullopt;
}

std::optional<nvmlReturn_t> parse_return_code(const std::string& text) {
  constexpr std::string_view kPrefix = "NVML_ERROR_";
  const std::string whole = text.starts_with(kPrefix) ? text : std::string(kPrefix) + text;
  for (int code = 1; code <= NVML_ERROR_UNKNOWN; ++code) {
    const auto known = static_cast<nvmlReturn_t>(code);
    if (driver::name_of(known) != whole) continue;
    // name_of() calls every number that it does not know NVML_ERROR_UNKNOWN.
    if (known == NVML_ERROR_UNKNOWN || whole != driver::name_of(NVML_ERROR_UNKNOWN)) return known;
  }
  return std::nullopt;
}

Status parse_record(const YAML::Node& mapping, const std::string& prefix,
                    std::span<const std::string_view> reserved, const std::string& file, Record& record) {
  return RecordParser(file, record).mapping(mapping, prefix, reserved);
}

}  // namespace pagoda::simulate
