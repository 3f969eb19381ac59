#include "smi/json_cell.h"
#include "smi/query_report.h"

namespace pagoda::smi {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const ReportNode& node);

void put(const ReportNode& node, Json& object) {
  if (node.is_list && node.children.empty()) {
    object[node.tag] = Json::array();
  } else if (node.is_list) {
    for (const ReportNode& child : node.children) object[node.tag].push_back(object_of(child));
  } else if (!node.cell) {
    object[node.tag] = object_of(node);
  } else {
    put_cell(object, node.tag, *node.cell);
    for (const ReportNode& child : node.children) put(child, object);
  }
}

Json object_of(const ReportNode& node) {
  Json object = Json::object();
  if (!node.id.empty()) object["id"] = node.id;
  for (const ReportNode& child : node.children) put(child, object);
  return object;
}

}  // namespace

std::string report_as_json(const ReportNode& report) {
  Json log = Json::object();
  log["gpus"] = Json::array();
  Json head = Json::object();
  for (const ReportNode& child : report.children) {
    if (child.tag == "gpu") {
      log["gpus"].push_back(object_of(child));
    } else {
      put(child, head);
    }
  }
  head.update(log);
  return head.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace pagoda::smi
