// The boxes that dcgmi draws: a header, and rows of a label and a value that may have rows below them. The
// same as JSON, in dcgmi's form.
#pragma once

#include <string>
#include <vector>

namespace pagoda::app {

struct BoxedRow {
  std::string label;
  std::vector<std::string> values;  // the first stands beside the label, the others below it
  std::vector<BoxedRow> rows;       // each with an arrow, further to the right
};

struct BoxedTree {
  std::vector<std::string> header;
  std::vector<BoxedRow> rows;
};

// `left` and `right`: characters of the two columns, as dcgmi counts them. Values that are too long for the
// right one are broken between words.
std::string as_box(const BoxedTree& tree, size_t left, size_t right);
// {"body": {label: {"value": …, "overflow": […], "children": {…}}}, "header": […]}
std::string as_json(const BoxedTree& tree);

// Lines of at most `width` characters, broken between words where there are any.
std::vector<std::string> broken_lines(const std::string& text, size_t width);

}  // namespace pagoda::app
