#include "app/chat_history.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/format.h"

namespace pagoda::app {
namespace {

std::string as_json(const std::vector<ChatMessage>& messages) {
  auto list = nlohmann::ordered_json::array();
  for (const ChatMessage& message : messages)
    list.push_back({{"role", message.role}, {"content", message.content}});
  return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_markdown(const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const ChatMessage& message : messages)
    text += format("## {}\n\n{}\n\n", message.role, message.content);
  return text;
}

}  // namespace

std::vector<ChatMessage> ChatHistory::messages() const {
  std::vector<ChatMessage> all;
  if (!system_.empty()) all.push_back({"system", system_});
  all.insert(all.end(), turns_.begin(), turns_.end());
  return all;
}

Status ChatHistory::save(const std::string& path) const {
  std::ofstream file(path);
  file << (path.ends_with(".json") ? as_json(messages()) : as_markdown(messages()));
  file.close();
  if (file.fail())
    return fail(ErrorCode::kInternal, format("cannot write {}: {}", path, std::strerror(errno)));
  return {};
}

}  // namespace pagoda::app
