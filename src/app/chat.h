// `pagoda chat`: a conversation in the terminal with any OpenAI-compatible server.
#pragma once

#include "app/subcommands.h"

namespace pagoda::app {
int run_chat_command(const Invocation& invocation);
}
