#include "simulate/derived_values.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace pagoda::simulate {
namespace {

using Context = const DerivationContext&;
using Derived = std::optional<Value>;

// Buses of a usual eight-GPU server.
constexpr std::array<int, 8> kBuses = {0x18, 0x2A, 0x3A, 0x5D, 0x9A, 0xAB, 0xBA, 0xDB};

Derived number_or_nothing(std::optional<Number> number) {
  return number ? Derived(Value::of(*number)) : std::nullopt;
}

// One key is another's value.
struct SameRow {
  std::string_view key, as;
};
constexpr std::array kSame = {
    SameRow{"power.limit_mw", "power.default_limit_mw"},
    SameRow{"power.enforced_limit_mw", "power.limit_mw"},
    SameRow{"power.current_limit_mw.gpu", "power.enforced_limit_mw"},
    SameRow{"power.requested_limit_mw.gpu", "power.limit_mw"},
    SameRow{"power.field_min_limit_mw.gpu", "power.min_limit_mw"},
    SameRow{"power.field_max_limit_mw.gpu", "power.max_limit_mw"},
    SameRow{"power.field_default_limit_mw.gpu", "power.default_limit_mw"},
    SameRow{"clocks.current.sm", "clocks.current.graphics"},
    SameRow{"clocks.max.sm", "clocks.max.graphics"},
    SameRow{"clocks.application.graphics", "clocks.default_application.graphics"},
    SameRow{"clocks.application.sm", "clocks.application.graphics"},
    SameRow{"clocks.default_application.sm", "clocks.default_application.graphics"},
    SameRow{"clocks.application.memory", "clocks.default_application.memory"},
    SameRow{"ecc.mode.pending", "ecc.mode.current"},
    SameRow{"mig.pending", "mig.current"},
    SameRow{"fans.target_percent", "fans.speed_percent"},
    SameRow{"gsp.default", "gsp.enabled"},
};

// free = total − reserved − used, of memory, bar1, protected_memory.
Derived free_memory(Context context, std::string_view kind) {
  const auto total = context.number(format("{}.total", kind));
  const auto used = context.number(format("{}.used", kind));
  if (!total || !used) return std::nullopt;
  return Value::of(
      std::max<Number>(0, *total - context.number(format("{}.reserved", kind)).value_or(0) - *used));
}

Number used_by_processes(Context context) {
  Number used = 0;
  const auto processes = context.list("processes");
  if (!processes) return 0;
  for (const Record& process : *processes) {
    const auto memory = process.find("used_memory");
    if (memory != process.end() && memory->second.kind == Value::Kind::kNumber &&
        memory->second.share_of.empty())
      used += memory->second.number;
  }
  return used;
}

// The total of a class of memory errors is the sum of what the card counts.
Derived ecc_total(Context context, std::string_view stem) {
  constexpr std::array<std::string_view, 7> kPlaces = {"l1_cache",       "l2_cache", "dram", "register_file",
                                                       "texture_memory", "cbu",      "sram"};
  std::optional<Number> sum;
  for (const auto place : kPlaces) {
    if (const auto count = context.number(format("{}.{}", stem, place))) sum = sum.value_or(0) + *count;
  }
  return number_or_nothing(sum);
}

Derived lost(Context context) {
  const auto falls = context.number("falls_off_bus_after_s");
  const auto back = context.number("comes_back_after_s");
  const bool gone =
      falls && context.seconds >= *falls && !(back && *back > *falls && context.seconds >= *back);
  return Value::of(gone ? 1 : 0);
}

Derived uuid(Context context) {
  unsigned long long hash = 14695981039346656037ULL;
  const auto stir = [&](const std::string& text) {
    for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
    return hash;
  };
  const auto first = stir(context.scenario);
  const auto second = stir(format("#{}", context.gpu));
  return Value::of_text(format("GPU-{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", second >> 32, second & 0xFFFF,
                               (second >> 16) & 0xFFF, first & 0xFFF,
                               (first ^ second * 31) & 0xFFFFFFFFFFFF));
}

std::optional<Number> bus_id(Context context) {
  const auto bus = context.number("pci.bus");
  return bus ? std::optional<Number>(*bus * 256) : std::nullopt;
}

Derived by_code(std::string_view key, Context context) {
  if (key == "lost") return lost(context);
  if (key == "uuid") return uuid(context);
  if (key == "minor_number") return Value::of(context.gpu);
  if (key == "pci.domain" || key == "pci.device") return Value::of(0);
  if (key == "pci.bus")
    return Value::of(context.gpu < kBuses.size() ? kBuses[context.gpu] : 0xE0 + context.gpu);
  if (key == "board_id") return number_or_nothing(bus_id(context));
  if (key == "memory.used") return Value::of(used_by_processes(context));
  if (key.ends_with(".free")) return free_memory(context, key.substr(0, key.size() - 5));
  if (key.starts_with("ecc.") && key.ends_with(".total"))
    return ecc_total(context, key.substr(0, key.size() - 6));
  if (key == "temperature.margin") {
    const auto zero = context.number("temperature.margin_zero"), now = context.number("temperature.gpu");
    return zero && now ? Derived(Value::of(*zero - *now)) : std::nullopt;
  }
  if (key == "gsp.firmware_version" && context.number("gsp.enabled").value_or(0) != 0) {
    const auto version = context.system_text("system.driver_version");
    return version ? Derived(Value::of_text(*version)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> derive(std::string_view key, const DerivationContext& context) {
  const auto same =
      std::find_if(kSame.begin(), kSame.end(), [&](const SameRow& row) { return row.key == key; });
  if (same != kSame.end()) return number_or_nothing(context.number(same->as));
  return by_code(key, context);
}

}  // namespace pagoda::simulate
