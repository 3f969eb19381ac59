#include "app/subcommands.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "app/chat.h"
#include "app/container_runtime_command.h"
#include "app/ctk_command.h"
#include "app/dcgmi_command.h"
#include "app/device_plugin_command.h"
#include "app/doctor_command.h"
#include "app/driver_command.h"
#include "app/exporter_command.h"
#include "app/inspect_command.h"
#include "app/nearest.h"
#include "app/overview.h"
#include "app/plan_command.h"
#include "app/pull_command.h"
#include "app/quantize_command.h"
#include "app/serve_command.h"
#include "app/simulate_command.h"
#include "app/simulated_gpus.h"
#include "app/smi_command.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 2> kServers = {"vllm", "tritonserver"};
constexpr std::array<std::string_view, 1> kSmi = {"nvidia-smi"};
constexpr std::array<std::string_view, 1> kDcgmi = {"dcgmi"};
constexpr std::array<std::string_view, 1> kExporter = {"dcgm-exporter"};
constexpr std::array<std::string_view, 1> kDriver = {"ubuntu-drivers"};
constexpr std::array<std::string_view, 4> kToolkit = {"nvidia-ctk", "nvidia-cdi-hook", "nvidia-container-cli",
                                                      "nvidia-container-runtime-hook"};
constexpr std::array<std::string_view, 1> kRuntime = {"nvidia-container-runtime"};

// Working ones first; a row without a function is planned and not offered.
constexpr std::array kSubcommands = {
    Subcommand{"serve", "LLM server: a drop-in for `vllm serve`, with the OpenAI API", kServers,
               run_serve_command},
    Subcommand{"plan", "will it fit: weights, KV cache and activations per GPU", Names{}, run_plan_command},
    Subcommand{"chat", "talk to any OpenAI-compatible server in the terminal", Names{}, run_chat_command},
    Subcommand{"inspect", "what a model is: architecture, sizes, tokenizer, memory", Names{},
               run_inspect_command},
    Subcommand{"pull", "fetch a model from a Hugging Face hub into the shared cache", Names{},
               run_pull_command},
    Subcommand{"quantize", "a smaller model file from a 16-bit one", Names{}, run_quantize_command},
    Subcommand{"smi", "the GPUs of this machine: a drop-in for nvidia-smi", kSmi, run_smi_command},
    Subcommand{"dcgmi", "groups, monitoring, health, tests, policies: a drop-in for dcgmi", kDcgmi,
               run_dcgmi_command},
    Subcommand{"exporter", "GPU metrics for Prometheus: a drop-in for dcgm-exporter", kExporter,
               run_exporter_command},
    Subcommand{"doctor", "from symptom to root cause and remedy", Names{}, run_doctor_command},
    Subcommand{"driver", "GPU found, which driver, which CUDA; install and verify", kDriver,
               run_driver_command},
    Subcommand{"ctk", "a drop-in for nvidia-ctk", kToolkit, run_ctk_command},
    Subcommand{"container-runtime", "the OCI runtime wrapper", kRuntime, run_container_runtime_command},
    Subcommand{"device-plugin", "Kubernetes: GPUs and MIG devices for the kubelet", Names{},
               run_device_plugin_command},
    Subcommand{"simulate", "simulated GPUs: scenarios, other programs on them, faults", Names{},
               run_simulate_command},
    Subcommand{"console", "chat, GPUs and doctor in a browser", Names{}, nullptr},
};

std::string_view base_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::vector<std::string> words_from(std::span<const char* const> argv, size_t first) {
  return {argv.begin() + static_cast<std::ptrdiff_t>(std::min(first, argv.size())), argv.end()};
}

Call run_or_not_yet(const Subcommand& row, std::string name, Invocation invocation) {
  Call call;
  call.kind = row.run == nullptr ? Call::Kind::kNotYet : Call::Kind::kRun;
  call.subcommand = &row;
  call.word = std::move(name);
  call.invocation = std::move(invocation);
  return call;
}

const Subcommand* linked_as(std::string_view link) {
  for (const auto& row : kSubcommands) {
    if (std::find(row.stands_for.begin(), row.stands_for.end(), link) != row.stands_for.end()) return &row;
  }
  return nullptr;
}

// `pagoda help`, `pagoda help serve`.
Call read_help(std::span<const char* const> argv) {
  Call call;
  call.kind = Call::Kind::kHelp;
  if (argv.size() < 3) return call;
  call.subcommand = find_subcommand(argv[2]);
  if (call.subcommand == nullptr) {
    call.kind = Call::Kind::kUnknown;
    call.word = argv[2];
  }
  return call;
}

// `pagoda X …`, and `vllm X …`, whose subcommands have the same names.
Call read_words(std::span<const char* const> argv, const std::string& program, bool drop_in) {
  Call call;
  if (argv.size() < 2) return call;
  const std::string_view word = argv[1];
  if (word == "--version" || word == "-V" || word == "version") {
    call.kind = Call::Kind::kVersion;
    return call;
  }
  if (word == "--help" || word == "-h") {
    call.kind = Call::Kind::kHelp;
    return call;
  }
  if (word == "help") return read_help(argv);
  if (const Subcommand* row = find_subcommand(word)) {
    return run_or_not_yet(*row, std::string(word),
                          {program + " " + std::string(word), words_from(argv, 2), drop_in});
  }
  call.kind = Call::Kind::kUnknown;
  call.word = word;
  return call;
}

int report_unknown(const Call& call) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  std::vector<std::string_view> names;
  for (const auto& row : kSubcommands) names.push_back(row.name);
  const auto close = nearest(call.word, names);
  const std::string remedy =
      close ? format("did you mean `pagoda {}`?", *close) : "`pagoda --help` lists what there is";
  fmt::print(stderr, "{} no subcommand '{}'; {}\n", paint(Ink::kRed, "pagoda:"), call.word, remedy);
  return kExitUsage;
}

int report_not_yet(std::string_view called, const Subcommand& row) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {} ({}) is not in version {} yet\n", paint(Ink::kRed, "pagoda:"), called,
             row.summary, version());
  return kExitUsage;
}

int print_help(const Call& call) {
  if (call.subcommand == nullptr) {
    print_usage();
    return kExitOk;
  }
  if (call.subcommand->run == nullptr) return report_not_yet(call.subcommand->name, *call.subcommand);
  return call.subcommand->run({format("pagoda {}", call.subcommand->name), {"--help"}, false});
}

}  // namespace

std::span<const Subcommand> subcommands() {
  return kSubcommands;
}

const Subcommand* find_subcommand(std::string_view name) {
  const auto row =
      std::find_if(kSubcommands.begin(), kSubcommands.end(), [&](const auto& r) { return r.name == name; });
  return row == kSubcommands.end() ? nullptr : &*row;
}

Call read_call(std::span<const char* const> argv) {
  const std::string link(argv.empty() ? "pagoda" : base_name(argv[0]));
  if (link == "vllm") {
    // The image's old entry point took the server's flags without `serve`.
    const bool bare_flags = argv.size() > 1 && std::string_view(argv[1]).starts_with("--") &&
                            std::string_view(argv[1]) != "--help" && std::string_view(argv[1]) != "--version";
    if (!bare_flags) return read_words(argv, link, true);
  }
  if (const Subcommand* row = linked_as(link))
    return run_or_not_yet(*row, link, {link, words_from(argv, 1), true});
  return read_words(argv, "pagoda", false);
}

int dispatch(std::span<const char* const> argv) {
  const auto words = take_simulation(argv);
  if (!words) {
    const Paint paint = Paint::for_descriptor(STDERR_FILENO);
    fmt::print(stderr, "{} {}\n", paint(Ink::kRed, "pagoda:"), words.error().message);
    return kExitUsage;
  }
  const Call call = read_call(*words);
  switch (call.kind) {
    case Call::Kind::kOverview:
      print_overview();
      return kExitOk;
    case Call::Kind::kVersion:
      fmt::print("pagoda {}\n", version());
      return kExitOk;
    case Call::Kind::kHelp:
      return print_help(call);
    case Call::Kind::kRun:
      return call.subcommand->run(call.invocation);
    case Call::Kind::kNotYet:
      return report_not_yet(call.word, *call.subcommand);
    case Call::Kind::kUnknown:
      return report_unknown(call);
  }
  return kExitFailure;
}

}  // namespace pagoda::app
