#include "app/smi_options.h"

#include <algorithm>
#include <array>

#include "app/flag_values.h"
#include "app/smi_settings.h"
#include "base/format.h"
#include "smi/monitor_columns.h"

namespace pagoda::app {
namespace {

Flag flag(std::string_view name, std::vector<std::string_view> aliases, std::string_view group,
          std::string_view value, Setter set, std::string help) {
  Flag row;
  row.name = name;
  row.aliases = std::move(aliases);
  row.group = group;
  row.takes = value.empty() ? Takes::kNothing : Takes::kValue;
  row.value_name = value;
  row.set = std::move(set);
  row.help = std::move(help);
  return row;
}

Setter to_query(SmiOptions& o, smi::QueryKind kind) {
  return [&o, kind](std::span<const std::string> values) -> Status {
    o.csv = SmiQuery{kind, values.back()};
    return {};
  };
}

Setter to_help(SmiOptions& o, smi::QueryKind kind) {
  return [&o, kind](std::span<const std::string>) -> Status {
    o.help_of = kind;
    return {};
  };
}

Setter to_loop(SmiOptions& o, int ms_per_unit) {
  return [&o, ms_per_unit](std::span<const std::string> values) -> Status {
    int count = 0;
    PAGODA_TRY(to_integer(&count, {1, 1 << 20})(values));
    o.loop_ms = count * ms_per_unit;
    return {};
  };
}

Setter to_setting(SmiOptions& o, std::string name) {
  return [&o, name = std::move(name)](std::span<const std::string> values) -> Status {
    o.settings.push_back({name, values.back()});
    return {};
  };
}

constexpr std::string_view kShow = "Show", kChoose = "Choose and format", kSet = "Set (needs root)",
                           kOurs = "Beyond it";

void add_choice(FlagTable& table, SmiOptions& o) {
  const auto add = [&](Flag row) { table.flags.push_back(std::move(row)); };
  add(flag("id", {"i"}, kChoose, "GPUS", to_text(&o.ids),
           "these alone: index, UUID, serial number or PCI bus id, by comma"));
  add(flag("filename", {"f"}, kChoose, "FILE", to_text(&o.file),
           "write to it rather than to standard output"));
  add(flag("json", {}, kOurs, "", to_switch(&o.json), "as JSON, with the reason where a value is missing"));
  add(flag("style", {}, kOurs, "R580", to_text(&o.style),
           "the form of this driver branch (default: the driver's own)"));
}

void add_queries(FlagTable& table, SmiOptions& o) {
  struct Row {
    std::string_view query, help_query, what;
    smi::QueryKind kind;
  };
  using enum smi::QueryKind;
  for (const Row& row :
       {Row{"query-gpu", "help-query-gpu", "of GPUs", kGpu},
        Row{"query-compute-apps", "help-query-compute-apps", "of computing processes", kComputeApps},
        Row{"query-accounted-apps", "help-query-accounted-apps", "of ended processes", kAccountedApps},
        Row{"query-retired-pages", "help-query-retired-pages", "of retired pages", kRetiredPages}}) {
    table.flags.push_back(flag(row.query, {}, kShow, "FIELDS", to_query(o, row.kind),
                               format("these columns {}, as --format says", row.what)));
    table.flags.push_back(
        flag(row.help_query, {}, kShow, "", to_help(o, row.kind), "what columns there are"));
  }
}

void add_main(FlagTable& table, SmiOptions& o) {
  const auto add = [&](Flag row) { table.flags.push_back(std::move(row)); };
  add(flag("list-gpus", {"L"}, kShow, "", to_switch(&o.list), "one line per GPU and MIG device"));
  add(flag("query", {"q"}, kShow, "", to_switch(&o.query), "everything that the driver tells"));
  add(flag("display", {"d"}, kShow, "TYPES", to_text(&o.display),
           "with -q: these parts alone, by comma: MEMORY, UTILIZATION, ECC, TEMPERATURE, POWER, CLOCK …"));
  add(flag("xml-format", {"x"}, kShow, "", to_switch(&o.xml), "with -q: as XML"));
  add_queries(table, o);
  add_choice(table, o);
  add(flag("format", {}, kChoose, "csv,…", to_text(&o.format), "of a query: csv, and noheader, nounits"));
  add(flag("loop", {"l"}, kChoose, "SECONDS", to_loop(o, 1000),
           "again and again (without a value: every 5 seconds)"));
  add(flag("loop-ms", {"lms"}, kChoose, "MS", to_loop(o, 1), "the same in milliseconds"));
  add(flag("watch", {}, kOurs, "", to_switch(&o.watch), "live full-screen view with history and processes"));
  add(flag("explain", {}, kOurs, "", to_switch(&o.explain),
           "what each column means, how it stands here, what to do"));
  add(flag("version", {"V"}, kShow, "", to_switch(&o.version), "versions of driver and libraries"));
  for (const SmiSettingRow& row : smi_setting_rows()) {
    add(flag(row.name, {row.letters}, kSet, row.value, to_setting(o, std::string(row.name)),
             std::string(row.help)));
  }
}

void add_monitor(FlagTable& table, SmiOptions& o, std::string_view letters) {
  const auto add = [&](Flag row) { table.flags.push_back(std::move(row)); };
  add(flag("select", {"s"}, kShow, "LETTERS", to_text(&o.metrics),
           format("groups of columns, of {}", letters)));
  add(flag("count", {"c"}, kChoose, "N", to_integer(&o.count, {1, 1 << 30}),
           "so many lines per GPU (default: no end)"));
  add(flag("delay", {"d"}, kChoose, "SECONDS", to_integer(&o.delay_s, {1, 10}),
           "between lines (default: 1)"));
  add(flag("options", {"o"}, kChoose, "DT", to_text(&o.stamps), "D adds the date, T the time"));
}

}  // namespace

FlagTable smi_flag_table(const std::string& program, const std::string& word, SmiOptions& o) {
  FlagTable table;
  table.usage = word.empty()
                    ? format("{} [flags]\n       {} topo|nvlink|dmon|pmon|mig [flags]", program, program)
                    : format("{} {} [flags]", program, word);
  table.summary = "The GPUs of this machine: drop-in for nvidia-smi.";
  const auto add = [&](Flag row) { table.flags.push_back(std::move(row)); };
  if (word.empty()) {
    add_main(table, o);
    return table;
  }
  add_choice(table, o);
  if (word == "topo")
    add(flag("matrix", {"m"}, kShow, "", to_switch(&o.matrix), "how near GPUs and CPUs are"));
  if (word == "nvlink") {
    add(flag("status", {"s"}, kShow, "", to_switch(&o.status), "links and their speed"));
    add(flag("errorcounters", {"e"}, kShow, "", to_switch(&o.errors), "error counters of each link"));
  }
  if (word == "dmon") add_monitor(table, o, smi::kDeviceGroups);
  if (word == "pmon") add_monitor(table, o, smi::kProcessGroups);
  if (word == "mig") {
    add(flag("list-gpu-instances", {"lgi"}, kShow, "", to_switch(&o.gpu_instances), "GPU instances"));
    add(flag("list-compute-instances", {"lci"}, kShow, "", to_switch(&o.compute_instances),
             "compute instances"));
    add(flag("list-gpu-instance-profiles", {"lgip"}, kShow, "", to_switch(&o.profiles),
             "profiles of GPU instances, and how many are free"));
    add(flag("create-gpu-instance", {"cgi"}, kSet, "PROFILES", to_text(&o.mig.create_gpu_instances),
             "make GPU instances of these profiles, by id or name: 19,3g.40gb"));
    add(flag("default-compute-instance", {"C"}, kSet, "", to_switch(&o.mig.with_compute_instances),
             "with -cgi: each with one compute instance of its whole"));
    add(flag("create-compute-instance", {"cci"}, kSet, "PROFILES", to_text(&o.mig.create_compute_instances),
             "make compute instances of these profiles; default: of the whole GPU instance"));
    add(flag("destroy-gpu-instance", {"dgi"}, kSet, "", to_switch(&o.mig.destroy_gpu_instances),
             "do away with GPU instances"));
    add(flag("destroy-compute-instance", {"dci"}, kSet, "", to_switch(&o.mig.destroy_compute_instances),
             "do away with compute instances"));
    add(flag("gpu-instance-id", {"gi"}, kChoose, "IDS", to_text(&o.mig.gpu_instances),
             "with -cci, -dgi, -dci: in these GPU instances (default: all)"));
    add(flag("compute-instance-id", {"ci"}, kChoose, "IDS", to_text(&o.mig.compute_instances),
             "with -dci: these (default: all)"));
  }
  return table;
}

std::vector<std::string> with_loop_values(std::vector<std::string> words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "-l" && words[i] != "--loop") continue;
    const bool has_value =
        i + 1 < words.size() && words[i + 1].find_first_not_of("0123456789") == std::string::npos;
    if (!has_value) words[i] += "=5";
  }
  return words;
}

}  // namespace pagoda::app
