// pagoda-grpc: what pagoda has to say by gRPC. Started by `pagoda`, which reads the flags.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "kubelet/grpc/device_plugin_run.h"
#include "kubelet/grpc/pod_resources_call.h"

namespace {

using namespace pagoda;
using Words = std::span<const char* const>;

struct Action {
  std::string_view name;
  size_t words;  // that it takes
  Status (*run)(Words);
};

Status device_plugin(Words words) {
  PAGODA_ASSIGN(const auto options, kubelet::parse_options_text(words[0]));
  return kubelet::run_device_plugin(options);
}

Status pod_resources(Words words) {
  const std::string_view number = words[1];
  int milliseconds = 0;
  const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), milliseconds);
  if (fault != std::errc{} || end != number.data() + number.size() || milliseconds <= 0)
    return fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is no number of milliseconds", number));
  PAGODA_ASSIGN(const auto devices,
                kubelet::call_pod_resources(words[0], std::chrono::milliseconds(milliseconds)));
  fmt::print("{}", kubelet::pod_devices_text(devices));
  return {};
}

constexpr std::array kActions = {
    Action{"device-plugin", 1, device_plugin},  // OPTIONS, as `pagoda device-plugin` writes them
    Action{"pod-resources", 2, pod_resources},  // SOCKET MILLISECONDS; prints a JSON list
};

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv, static_cast<size_t>(argc));
  const auto action = std::find_if(kActions.begin(), kActions.end(), [&](const Action& row) {
    return words.size() == row.words + 2 && row.name == words[1];
  });
  if (action == kActions.end()) {
    fmt::print(
        stderr,
        "pagoda-grpc: this is a part of pagoda, which starts it: pagoda device-plugin, pagoda exporter\n");
    return 2;
  }
  const Status done = action->run(words.subspan(2));
  if (done) return 0;
  fmt::print(stderr, "pagoda-grpc: {}\n", done.error().message);
  return done.error().code == ErrorCode::kInvalidArgument ? 2 : 1;
}
