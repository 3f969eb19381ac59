// The functions that transformers gives to chat templates.
#pragma once

#include <jinja/runtime.h>

namespace pagoda::text {

// raise_exception, strftime_now, range (at most 100,000 numbers, as in jinja2's sandbox).
void define_functions(jinja::context& context);

}  // namespace pagoda::text
