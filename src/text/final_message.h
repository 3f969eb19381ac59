// continue_final_message: the prompt ends inside of the last message, where the model goes on writing it. A
// mark is put behind its text, and what was rendered is cut there.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace pagoda::text {

// The text that is to be continued; `messages` then has the mark behind it.
Result<std::string> mark_final_message(nlohmann::ordered_json& messages);
Result<std::string> cut_at_mark(std::string rendered, const std::string& final_text);

}  // namespace pagoda::text
