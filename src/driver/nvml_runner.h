// How a row of nvml_calls.h becomes a Reading: looked up by name, run on a worker under a deadline, its
// outputs owned by the call, so that one that returns too late writes into its own memory and nobody else's.
#pragma once

#include <chrono>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "driver/nvml_calls.h"
#include "driver/nvml_library.h"
#include "driver/nvml_reading.h"
#include "driver/nvml_worker.h"

namespace pagoda::driver::nvml {

// Outputs<Skip, P...>::Tuple: the values behind the pointers of P... after the first Skip, which a call
// fills.
template <size_t Skip, class... P>
struct Outputs {
  template <size_t I>
  using Pointer = std::tuple_element_t<Skip + I, std::tuple<P...>>;
  template <size_t... I>
  static auto pointees(std::index_sequence<I...>) {
    static_assert((std::is_pointer_v<Pointer<I>> && ...),
                  "too few inputs: the rest of the call is not all output");
    return std::tuple<std::remove_pointer_t<Pointer<I>>...>{};
  }
  static_assert(Skip <= sizeof...(P), "too many inputs for this call");
  using Tuple = decltype(pointees(std::make_index_sequence<sizeof...(P) - Skip>{}));
};

// One output is Reading<T>, several are Reading<std::tuple<…>>, none is Reading<void>.
template <class Tuple>
auto unwrap(Reading<Tuple> filled) {
  if constexpr (std::tuple_size_v<Tuple> == 0) {
    return filled ? Reading<void>() : Reading<void>(tl::unexpect, filled.error());
  } else if constexpr (std::tuple_size_v<Tuple> == 1) {
    using Value = std::tuple_element_t<0, Tuple>;
    return filled ? Reading<Value>(std::get<0>(*filled)) : Reading<Value>(tl::unexpect, filled.error());
  } else {
    return filled;
  }
}

class Runner {
 public:
  Runner(std::shared_ptr<NvmlLibrary> library, std::shared_ptr<NvmlWorker> worker,
         std::chrono::milliseconds deadline)
      : library_(std::move(library)), worker_(std::move(worker)), deadline_(deadline) {}

  // body(Function*, T&) → nvmlReturn_t, run on the worker with a value-initialised T. Body must own what it
  // needs.
  template <class T, class Function, class Body>
  Reading<T> run(const Call<Function>& call, Body body) const {
    return run_within<T>(deadline_, call, std::move(body));
  }
  // The same with another deadline, for what may take long (set-up of a GPU, a reset).
  template <class T, class Function, class Body>
  Reading<T> run_within(std::chrono::milliseconds deadline, const Call<Function>& call, Body body) const {
    auto* function = reinterpret_cast<Function*>(library_->find(call.names));
    if (function == nullptr) return absent(NVML_ERROR_FUNCTION_NOT_FOUND);
    // The library is held: it may not be unloaded under a call that is stuck in it.
    auto done = worker_->run(
        [library = library_, function, body = std::move(body)]() mutable -> Reading<T> {
          T value{};
          const nvmlReturn_t code = body(function, value);
          if (code != NVML_SUCCESS) return absent(code);
          return value;
        },
        deadline);
    if (!done) return absent(NVML_ERROR_TIMEOUT);
    return std::move(*done);
  }

  bool has(std::span<const char* const> names) const { return library_->find(names) != nullptr; }
  const std::shared_ptr<NvmlLibrary>& library() const { return library_; }
  const std::shared_ptr<NvmlWorker>& worker() const { return worker_; }
  std::chrono::milliseconds deadline() const { return deadline_; }

 private:
  std::shared_ptr<NvmlLibrary> library_;
  std::shared_ptr<NvmlWorker> worker_;
  std::chrono::milliseconds deadline_;
};

}  // namespace pagoda::driver::nvml
