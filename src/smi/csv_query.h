// --query-gpu, --query-compute-apps, --query-accounted-apps, --query-retired-pages: chosen columns as CSV or
// JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/gpu_snapshot.h"
#include "smi/cell.h"
#include "smi/output_style.h"

namespace pagoda::smi {

struct CsvFormat {
  bool header = true;
  bool units = true;
};
// "csv", "csv,noheader,nounits"; the error names the word.
Result<CsvFormat> read_csv_format(std::string_view words);

enum class QueryKind { kGpu, kComputeApps, kAccountedApps, kRetiredPages };

// A query whose columns all exist.
struct CsvQuery {
  QueryKind kind = QueryKind::kGpu;
  std::vector<std::string> columns;  // canonical names
  unsigned sections = 0;             // driver::Section: what has to be read
};
// "pid,used_memory". The error is NVIDIA's sentence for an unknown field.
Result<CsvQuery> read_csv_query(QueryKind kind, std::string_view columns);

std::string csv_header(const CsvQuery& query, const CsvFormat& format);
std::string csv_rows(const CsvQuery& query, const CsvFormat& format, const driver::MachineSnapshot& machine,
                     const OutputStyle& style);
std::string csv_as_json(const CsvQuery& query, const driver::MachineSnapshot& machine,
                        const OutputStyle& style);

// --help-query-…: every column with its meaning.
std::string csv_help(QueryKind kind);

}  // namespace pagoda::smi
