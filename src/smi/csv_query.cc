#include "smi/csv_query.h"

#include <algorithm>

#include "base/format.h"
#include "smi/csv_column.h"
#include "smi/json_cell.h"

namespace pagoda::smi {
namespace {

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.push_back(word);
    if (comma == std::string_view::npos) return words;
    list.remove_prefix(comma + 1);
  }
}

std::vector<CsvColumn> chosen_columns(const CsvQuery& query) {
  std::vector<CsvColumn> chosen;
  for (const std::string& name : query.columns) chosen.push_back(*find_csv_column(query.kind, name));
  return chosen;
}

std::string shown(const CsvColumn& column, const Cell& cell, const CsvFormat& form) {
  if (cell.absent) return column.bare ? cell.text : format("[{}]", cell.text);
  return form.units ? with_unit(cell) : cell.text;
}

}  // namespace

Result<CsvFormat> read_csv_format(std::string_view words) {
  CsvFormat form;
  bool csv = false;
  for (const std::string_view word : split(words)) {
    if (word == "csv") {
      csv = true;
    } else if (word == "noheader") {
      form.header = false;
    } else if (word == "nounits") {
      form.units = false;
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  format("Format option \"{}\" is not recognized; there are csv, noheader, nounits.", word),
                  "format");
    }
  }
  if (!csv) return fail(ErrorCode::kInvalidArgument, "\"--format=\" needs csv among its options.", "format");
  return form;
}

Result<CsvQuery> read_csv_query(QueryKind kind, std::string_view columns) {
  CsvQuery query{kind, {}, base_sections(kind)};
  for (const std::string_view word : split(columns)) {
    const auto column = find_csv_column(kind, word);
    if (!column) {
      return fail(ErrorCode::kInvalidArgument, format("Field \"{}\" is not a valid field to query.", word),
                  "query");
    }
    query.columns.emplace_back(column->name);
    query.sections |= column->sections;
  }
  return query;
}

std::string csv_header(const CsvQuery& query, const CsvFormat& form) {
  if (!form.header) return {};
  std::string line;
  for (const CsvColumn& column : chosen_columns(query)) {
    if (!line.empty()) line += ", ";
    line += column.unit.empty() || !form.units ? std::string(column.name)
                                               : format("{} [{}]", column.name, column.unit);
  }
  return line + "\n";
}

std::string csv_rows(const CsvQuery& query, const CsvFormat& form, const driver::MachineSnapshot& machine,
                     const OutputStyle& style) {
  const std::vector<CsvColumn> columns = chosen_columns(query);
  std::string out;
  for (const CsvRow& row : csv_records(query.kind, machine)) {
    std::string line;
    for (const CsvColumn& column : columns) {
      if (&column != &columns.front()) line += ", ";
      line += shown(column, column.read({machine, row, style}), form);
    }
    out += line + "\n";
  }
  return out;
}

std::string csv_as_json(const CsvQuery& query, const driver::MachineSnapshot& machine,
                        const OutputStyle& style) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const CsvRow& row : csv_records(query.kind, machine)) {
    Json object = Json::object();
    for (const CsvColumn& column : chosen_columns(query)) {
      put_cell(object, column.name, column.read({machine, row, style}));
    }
    rows.push_back(std::move(object));
  }
  return Json{{"rows", std::move(rows)}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pagoda::smi
