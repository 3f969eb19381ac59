// Outputs of nvidia-smi in every form, line by line, as their readers take them; then the rules judge what
// was read.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "faults/machine_record.h"
#include "faults/observations.h"
#include "faults/reading_rules.h"
#include "faults/smi_section.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace pagoda::faults;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::unique_ptr<SmiSection> section;
  MachineRecord machine;
  int64_t number = 0, events = 0;
  const auto end_section = [&] {
    if (section == nullptr) return;
    section->finish();
    machine.add(section->snapshot);
    judge_snapshot(section->snapshot, "fuzz", [&](Event event) { events += event.fault != nullptr; });
    section = nullptr;
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ++number;
    if (section != nullptr && section->take(line, number)) continue;
    end_section();
    section = begin_section(line, number);
  }
  end_section();
  observe(machine, {});
  return 0;
}
