// The conversation so far, and how it is kept in a file.
#pragma once

#include <string>
#include <vector>

#include "app/chat_protocol.h"

namespace pagoda::app {

class ChatHistory {
 public:
  // An empty text takes the system message away.
  void set_system(std::string text) { system_ = std::move(text); }
  const std::string& system() const { return system_; }

  void add(std::string role, std::string content) { turns_.push_back({std::move(role), std::move(content)}); }
  // Takes back a question that got no answer.
  void drop_last() { turns_.pop_back(); }
  void clear() { turns_.clear(); }
  bool empty() const { return turns_.empty(); }

  // The system message, if there is one, and the turns.
  std::vector<ChatMessage> messages() const;

  // As a JSON list of messages when the name ends in .json, else as Markdown.
  Status save(const std::string& path) const;

 private:
  std::string system_;
  std::vector<ChatMessage> turns_;
};

}  // namespace pagoda::app
