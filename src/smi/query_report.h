// `-q` as a tree, and its three forms: text, XML (-x) and JSON.
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

struct ReportNode {
  std::string label;         // text; empty: no line of its own
  std::string tag;           // XML, JSON
  std::optional<Cell> cell;  // none: a heading
  std::string note = {};     // after the cell, in text
  bool narrow = false;       // the colon stands where processes have it
  bool is_list = false;      // JSON: an array of its children
  std::string id = {};       // XML attribute
  std::vector<ReportNode> children = {};
};

// "ECC,POWER" → a set of Display; the error names what is not known.
Result<unsigned> read_displays(std::string_view names);
// What has to be read for them (driver::Section); for a plain -q where there are none.
unsigned query_sections(unsigned displays);

// Everything, or the displays of -d (a set of Display; 0: everything).
ReportNode query_report(const driver::MachineSnapshot& machine, const OutputStyle& style,
                        unsigned displays = 0);

std::string report_as_text(const ReportNode& report, const OutputStyle& style);
std::string report_as_xml(const ReportNode& report);
// {"driver_version": …, "gpus": [{…}]}: numbers as numbers in the unit of the key (`used_mib`), what is
// absent as null with its reason beside it (`used_absent`).
std::string report_as_json(const ReportNode& report);

}  // namespace pagoda::smi
