// render_chats: reads one JSON object per line, {"template", "bos_token", "eos_token", "now", "cases":
// [{"messages", "tools", "documents", "kwargs", "add_generation_prompt", "continue_final_message"}]}, and
// writes per line a list of
// {"text"} or {"error"}. For tests/text/compare_templates.py.
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "text/chat_template.h"

namespace {

using nlohmann::ordered_json;

const ordered_json* member(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

ordered_json outcome(const pagoda::Result<std::string>& rendered) {
  return rendered ? ordered_json{{"text", *rendered}} : ordered_json{{"error", rendered.error().message}};
}

ordered_json render_all(const ordered_json& job) {
  const auto chat_template =
      pagoda::text::parse_chat_template(job.at("template"), job.at("bos_token"), job.at("eos_token"));
  ordered_json out = ordered_json::array();
  for (const ordered_json& one : job.at("cases")) {
    if (!chat_template) {
      out.push_back({{"error", chat_template.error().message}});
      continue;
    }
    pagoda::text::ChatTemplateInput input;
    input.messages = member(one, "messages");
    input.tools = member(one, "tools");
    input.documents = member(one, "documents");
    input.extra = member(one, "kwargs");
    input.add_generation_prompt = one.value("add_generation_prompt", true);
    input.continue_final_message = one.value("continue_final_message", false);
    input.now = job.at("now").get<std::time_t>();
    out.push_back(outcome((*chat_template)->render(input)));
  }
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << render_all(ordered_json::parse(line)).dump() << '\n';
  }
}
