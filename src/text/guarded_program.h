// A parsed template with guards and Python's manners put into its tree: every loop, call and concatenation
// counts against the RenderBudget, and what jinja2 does otherwise than the engine is done as jinja2 does it.
#pragma once

#include <jinja/runtime.h>

#include <string>

namespace pagoda::text {

// Throws the engine's exceptions. check_template_source must have passed.
jinja::program parse_guarded(const std::string& source);

}  // namespace pagoda::text
