// Does a chat template want content as a string or as a list of parts? It is tried once, at load.
#pragma once

#include "text/chat_template.h"

namespace pagoda::api {

// True when a list of parts shows its text and a string does not.
bool wants_content_parts(const text::ChatTemplate& chat_template);

}  // namespace pagoda::api
