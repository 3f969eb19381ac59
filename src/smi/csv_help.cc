#include "base/format.h"
#include "smi/csv_column.h"

namespace pagoda::smi {
namespace {

std::string_view switch_of(QueryKind kind) {
  switch (kind) {
    case QueryKind::kGpu:
      return "--query-gpu";
    case QueryKind::kComputeApps:
      return "--query-compute-apps";
    case QueryKind::kAccountedApps:
      return "--query-accounted-apps";
    case QueryKind::kRetiredPages:
      return "--query-retired-pages";
  }
  return "";
}

}  // namespace

std::string csv_help(QueryKind kind) {
  std::string out = format("List of valid properties to query for the switch \"{}\":\n\n", switch_of(kind));
  for (const CsvColumn& column : csv_columns(kind)) {
    out += format("\"{}\"", column.name);
    if (!column.alias.empty()) out += format(" or \"{}\"", column.alias);
    out += format("\n{}{}\n\n", column.meaning, column.unit.empty() ? "" : format(" Unit: {}.", column.unit));
  }
  return out;
}

}  // namespace pagoda::smi
