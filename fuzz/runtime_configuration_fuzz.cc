// Any bytes as an engine's configuration: a change that is accepted must be found done by the second run, and
// gone after the runtime was taken out.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "container/runtime_configuration.h"
#include "container/toolkit_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::container;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const RuntimeSetting setting{"nvidia", "/usr/bin/nvidia-container-runtime", true, true};
  for (const Engine engine : {Engine::kDocker, Engine::kContainerd, Engine::kCrio, Engine::kPodman}) {
    const auto once = with_runtime(engine, text, setting);
    if (!once) continue;
    const auto twice = with_runtime(engine, *once, setting);
    if (!twice || *twice != *once) std::abort();
    (void)without_runtime(engine, *once, setting.name);
  }
  (void)with_setting(text, "nvidia-container-runtime.mode=cdi");
  return 0;
}
