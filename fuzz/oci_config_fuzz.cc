// Any bytes as the config.json of a bundle: the request is read, and edits are applied. JSON of the wrong
// kinds may be refused by nlohmann's own exception, which edit_bundle catches in one place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "container/gpu_request.h"
#include "container/oci_edit.h"
#include "container/structured_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::container;
  auto config = parse_json({reinterpret_cast<const char*>(data), size});
  if (!config || !config->is_object()) return 0;
  static const auto root = pagoda::driver::HostRoot::open("/");
  CdiEdits edits;
  edits.environment = {"A=1"};
  edits.device_nodes.emplace_back();
  edits.device_nodes.back().path = "/dev/null";
  edits.mounts.push_back({"/a", "/b", {"ro"}, ""});
  edits.hooks.push_back({"createContainer", "/h", {"h"}, {"X=1"}, 1});
  edits.additional_gids = {44};
  try {
    remove_legacy_hooks(*config);
    const RequestRules rules{false, true};
    const auto request = read_gpu_request(*config, rules);
    const auto met = check_requirements(*config, {"580.95.05", "13.0", "9.0", "tesla"});
    if (request && met && apply_edits(*config, edits, *root)) config->dump();
  } catch (const nlohmann::json::exception&) {
  }
  return 0;
}
