// Runs what belongs to others (a grammar, a sink, a runner, a drafter): what it throws becomes an Error.
#pragma once

#include <exception>
#include <string_view>
#include <type_traits>

#include "base/format.h"
#include "base/result.h"

namespace pagoda::engine {

// `function` returns void or a Status.
template <class Function>
Status guarded(std::string_view what, Function&& function) {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
      function();
      return {};
    } else {
      return function();
    }
  } catch (const std::exception& thrown) {
    return fail(ErrorCode::kInternal, format("{} failed: {}", what, thrown.what()));
  } catch (...) {
    return fail(ErrorCode::kInternal, format("{} failed", what));
  }
}

}  // namespace pagoda::engine
