#include "base/format.h"
#include "smi/query_report.h"

namespace pagoda::smi {
namespace {

constexpr int kNarrowColumn = 42;
constexpr int kIndent = 4;

class TextWriter {
 public:
  explicit TextWriter(int column) : column_(column) {}

  void write(const ReportNode& node, int depth) {
    int below = depth;
    if (!node.label.empty()) {
      line(node, depth);
      below = depth + 1;
    }
    for (const ReportNode& child : node.children) write(child, below);
  }

  std::string out;

 private:
  void line(const ReportNode& node, int depth) {
    const std::string label = std::string(static_cast<size_t>(depth * kIndent), ' ') + node.label;
    if (!node.cell) {
      out += label + "\n";
      return;
    }
    out += format("{:<{}} : {}{}\n", label, (node.narrow ? kNarrowColumn : column_) - 1,
                  with_unit(*node.cell), node.note);
  }

  int column_;
};

}  // namespace

std::string report_as_text(const ReportNode& report, const OutputStyle& style) {
  TextWriter writer(style.query_colon_column());
  writer.out = "\n==============NVSMI LOG==============\n\n";
  for (const ReportNode& node : report.children) {
    if (node.tag == "attached_gpus") writer.out += "\n";
    writer.write(node, 0);
    if (node.tag == "gpu") writer.out += "\n";
  }
  return writer.out;
}

}  // namespace pagoda::smi
