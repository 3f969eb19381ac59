// fmt's own code, compiled here once, header-only and nothing inlined (cmake/third_party.cmake), so that all
// other files find it when they are linked. Debian has fmt as headers and as a shared object; the headers
// whole cost three seconds in each file that used them so.
#include <fmt/format.h>
#include <cstdio>

namespace pagoda {
namespace {

// What fmt/core.h leaves to be found. All else comes with it.
using Format = std::string (*)(fmt::string_view, fmt::format_args);
using Print = void (*)(fmt::string_view, fmt::format_args);
using PrintTo = void (*)(std::FILE*, fmt::string_view, fmt::format_args);
[[gnu::used]] const Format kFormat = &fmt::vformat;
[[gnu::used]] const Print kPrint = &fmt::vprint;
[[gnu::used]] const PrintTo kPrintTo = &fmt::vprint;

}  // namespace
}  // namespace pagoda
