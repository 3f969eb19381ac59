// The columns of each query, and the records that are its rows: GPUs, processes, pages.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "smi/csv_query.h"

namespace pagoda::smi {

// A row: its GPU and, of the queries that have more rows than GPUs, what it is of it. Points into the
// snapshot.
struct CsvRow {
  const driver::GpuSnapshot* gpu = nullptr;
  const driver::GpuProcess* process = nullptr;
  const driver::AccountedProcess* accounted = nullptr;
  // Of retired pages: none where the GPU has no such page or does not tell (`no_page`); the row says so.
  const driver::RetiredPage* page = nullptr;
  std::string_view page_cause = {};
  driver::Absence no_page = driver::kNotRead;
};

struct CsvContext {
  const driver::MachineSnapshot& machine;
  const CsvRow& row;
  const OutputStyle& style;
};

struct CsvColumn {
  std::string_view name, alias, unit;
  unsigned sections = 0;
  std::string_view meaning;
  std::function<Cell(const CsvContext&)> read;
  bool bare = false;
};

std::vector<CsvColumn> csv_columns(QueryKind kind);
std::optional<CsvColumn> find_csv_column(QueryKind kind, std::string_view name);
// What is read whatever the columns.
unsigned base_sections(QueryKind kind);
std::vector<CsvRow> csv_records(QueryKind kind, const driver::MachineSnapshot& machine);

}  // namespace pagoda::smi
