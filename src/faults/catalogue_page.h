// The catalogue of faults as a page for people: docs/faults.md is this, and a test compares them.
#pragma once

#include <string>

namespace pagoda::faults {
std::string catalogue_page();  // Markdown
}
