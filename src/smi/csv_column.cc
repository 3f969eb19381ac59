#include "smi/csv_column.h"

#include <algorithm>

#include "base/format.h"
#include "smi/gpu_field.h"
#include "smi/gpu_field_cells.h"
#include "smi/process_names.h"

namespace pagoda::smi {
namespace {

Cell plain(unsigned value) {
  return {format("{}", value), {}, true, std::nullopt};
}

CsvColumn column(const GpuField& field) {
  return {field.name,
          field.alias,
          field.unit,
          field.sections,
          field.meaning,
          [read = field.read](const CsvContext& c) { return read({c.machine, *c.row.gpu, c.style}); },
          field.bare};
}

// The columns of a GPU that queries of processes and pages have too, under names of their own.
void add_gpu_columns(std::vector<CsvColumn>& columns) {
  struct Renamed {
    std::string_view name, field;
  };
  for (const Renamed& row :
       {Renamed{"timestamp", "timestamp"}, Renamed{"gpu_name", "name"}, Renamed{"gpu_bus_id", "pci.bus_id"},
        Renamed{"gpu_serial", "serial"}, Renamed{"gpu_uuid", "uuid"}}) {
    CsvColumn renamed = column(*find_gpu_field(row.field));
    renamed.name = row.name;
    renamed.alias = {};
    columns.push_back(std::move(renamed));
  }
}

void add_compute_columns(std::vector<CsvColumn>& columns) {
  columns.push_back(
      {"pid", "", "", 0, "The process.", [](const CsvContext& c) { return plain(c.row.process->pid); }});
  columns.push_back({"process_name", "name", "", 0, "Its program.",
                     [](const CsvContext& c) { return word(process_name(*c.row.process)); }});
  columns.push_back({"used_gpu_memory", "used_memory", "MiB", 0, "Memory that it holds on this GPU.",
                     [](const CsvContext& c) { return mib(c.row.process->memory); }});
}

void add_accounted_columns(std::vector<CsvColumn>& columns) {
  columns.push_back({"vgpu_instance", "", "", 0, "The vGPU, on a vGPU host.",
                     [](const CsvContext&) { return not_available(); }});
  columns.push_back(
      {"pid", "", "", 0, "The process.", [](const CsvContext& c) { return plain(c.row.accounted->pid); }});
  columns.push_back({"gpu_utilization", "gpu_util", "%", 0, "Share of its life in which a kernel of it ran.",
                     [](const CsvContext& c) { return number(c.row.accounted->gpu_percent, "%"); }});
  columns.push_back({"mem_utilization", "mem_util", "%", 0,
                     "Share of its life in which memory was read or written.",
                     [](const CsvContext& c) { return number(c.row.accounted->memory_percent, "%"); }});
  columns.push_back({"max_memory_usage", "", "MiB", 0, "The most memory that it held.",
                     [](const CsvContext& c) { return mib(c.row.accounted->memory_max); }});
  columns.push_back({"time", "", "ms", 0, "How long its context was active; 0 while it runs.",
                     [](const CsvContext& c) { return number(c.row.accounted->time_ms, "ms"); }});
}

void add_page_columns(std::vector<CsvColumn>& columns) {
  columns.push_back({"retired_pages.address", "", "", 0, "The page.", [](const CsvContext& c) {
                       if (c.row.page == nullptr) return absent_cell(c.row.no_page);
                       return word(format("{:#018x}", c.row.page->address));
                     }});
  columns.push_back({"retired_pages.timestamp", "", "", 0, "When it was given up.", [](const CsvContext& c) {
                       if (c.row.page == nullptr) return absent_cell(c.row.no_page);
                       if (c.row.page->timestamp_us == 0) return not_available();
                       const std::chrono::microseconds since_1970(c.row.page->timestamp_us);
                       return word(csv_time(std::chrono::system_clock::time_point(since_1970)));
                     }});
  columns.push_back({"retired_pages.cause", "", "", 0, "Single Bit ECC (several) or Double Bit ECC.",
                     [](const CsvContext& c) { return word(c.row.page_cause); }});
}

void add_pages(const driver::GpuSnapshot& gpu, const driver::Field<std::vector<driver::RetiredPage>>& pages,
               std::string_view cause, std::vector<CsvRow>& rows) {
  CsvRow row;
  row.gpu = &gpu;
  row.page_cause = cause;
  if (!pages || pages->empty()) {
    if (!pages) row.no_page = pages.error();
    rows.push_back(row);
    return;
  }
  for (const driver::RetiredPage& page : *pages) {
    row.page = &page;
    rows.push_back(row);
  }
}

}  // namespace

std::vector<CsvColumn> csv_columns(QueryKind kind) {
  std::vector<CsvColumn> columns;
  if (kind == QueryKind::kGpu) {
    for (const GpuField* field : gpu_fields()) columns.push_back(column(*field));
    return columns;
  }
  add_gpu_columns(columns);
  if (kind == QueryKind::kComputeApps) add_compute_columns(columns);
  if (kind == QueryKind::kAccountedApps) add_accounted_columns(columns);
  if (kind == QueryKind::kRetiredPages) add_page_columns(columns);
  return columns;
}

std::optional<CsvColumn> find_csv_column(QueryKind kind, std::string_view name) {
  for (CsvColumn& row : csv_columns(kind)) {
    if (row.name == name || (!row.alias.empty() && row.alias == name)) return std::move(row);
  }
  return std::nullopt;
}

unsigned base_sections(QueryKind kind) {
  switch (kind) {
    case QueryKind::kGpu:
      return 0;
    case QueryKind::kComputeApps:
      return driver::kProcessesSection;
    case QueryKind::kAccountedApps:
      return driver::kAccountedSection;
    case QueryKind::kRetiredPages:
      return driver::kRetiredSection;
  }
  return 0;
}

std::vector<CsvRow> csv_records(QueryKind kind, const driver::MachineSnapshot& machine) {
  std::vector<CsvRow> rows;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    CsvRow row;
    row.gpu = &gpu;
    if (kind == QueryKind::kGpu) rows.push_back(row);
    if (kind == QueryKind::kComputeApps && gpu.compute_processes) {
      for (const driver::GpuProcess& process : *gpu.compute_processes) {
        row.process = &process;
        rows.push_back(row);
      }
    }
    if (kind == QueryKind::kAccountedApps && gpu.accounted) {
      for (const driver::AccountedProcess& process : *gpu.accounted) {
        row.accounted = &process;
        rows.push_back(row);
      }
    }
    if (kind == QueryKind::kRetiredPages) {
      add_pages(gpu, gpu.retired.single_bit, "Single Bit ECC", rows);
      add_pages(gpu, gpu.retired.double_bit, "Double Bit ECC", rows);
    }
  }
  return rows;
}

}  // namespace pagoda::smi
