#include "base/format.h"
#include "smi/query_report.h"

namespace pagoda::smi {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void write(const ReportNode& node, int depth, std::string& out) {
  const std::string indent(static_cast<size_t>(depth), '\t');
  if (node.cell && node.children.empty()) {
    out += format("{}<{}>{}</{}>\n", indent, node.tag, escaped(with_unit(*node.cell)), node.tag);
    return;
  }
  const std::string id = node.id.empty() ? "" : format(" id=\"{}\"", escaped(node.id));
  if (!node.cell) {
    out += format("{}<{}{}>\n", indent, node.tag, id);
    for (const ReportNode& child : node.children) write(child, depth + 1, out);
    out += format("{}</{}>\n", indent, node.tag);
    return;
  }
  // A value with more below it: in XML they stand side by side.
  out += format("{}<{}>{}</{}>\n", indent, node.tag, escaped(with_unit(*node.cell)), node.tag);
  for (const ReportNode& child : node.children) write(child, depth, out);
}

}  // namespace

std::string report_as_xml(const ReportNode& report) {
  std::string out =
      "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "
      "\"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n";
  for (const ReportNode& child : report.children) write(child, 1, out);
  return out + "</nvidia_smi_log>\n";
}

}  // namespace pagoda::smi
