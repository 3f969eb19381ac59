// Texts that metadata made from JSON point to: they stay where they are as long as the store lives.
#pragma once

#include <deque>
#include <string>
#include <string_view>

namespace pagoda::model {

class TextStore {
 public:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

 private:
  std::deque<std::string> texts_;
};

}  // namespace pagoda::model
