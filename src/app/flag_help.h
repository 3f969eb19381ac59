// A flag table as help text: --help, and --help=WORD for one group, one name, or everything.
#pragma once

#include <string>

#include "app/flags.h"
#include "app/terminal.h"

namespace pagoda::app {

// `word` empty: usage, examples and the flags that work, by group. "all": also those that are accepted
// without meaning or not there yet. Else: the flags of that group, or those with the word in their name.
std::string help_text(const FlagTable& table, const std::string& word, const Paint& paint, int width);

}  // namespace pagoda::app
