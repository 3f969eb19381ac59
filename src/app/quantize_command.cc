#include "app/quantize_command.h"

#include <unistd.h>

#include <filesystem>

#include "app/flag_help.h"
#include "app/flag_values.h"
#include "app/hub_model.h"
#include "app/machine.h"
#include "app/model_cache.h"
#include "app/progress_line.h"
#include "app/terminal.h"
#include "base/atomic_file.h"
#include "base/format.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "kernels/cpu/cpu_compute.h"
#include "quantize/folder_output.h"
#include "quantize/gguf_output.h"

namespace pagoda::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostCalibrationBytes = size_t{256} << 20;

struct QuantizeOptions {
  std::string model;
  std::string scheme;
  std::string out;
  int bits = 4;
  int group_size = 128;
  std::string calibration;
  int samples = 128;
  int threads = 0;
};

Flag flag(std::string_view name, std::string_view value_name, Setter set, std::string help) {
  Flag row;
  row.name = name;
  row.group = "Flags";
  row.value_name = value_name;
  row.set = std::move(set);
  row.help = std::move(help);
  return row;
}

FlagTable quantize_flag_table(QuantizeOptions& o) {
  FlagTable table;
  table.usage = "pagoda quantize MODEL --scheme SCHEME -o OUT [flags]";
  table.summary =
      "A smaller model file from a larger one: reads GGUF or a Hugging Face folder, tensor by tensor, and "
      "writes a format that other engines load too.";
  table.examples = {
      {"pagoda quantize ./SmolLM2-135M --scheme q4_k -o smollm2-q4_k.gguf", "a GGUF file of 4 bits"},
      {"pagoda quantize model-f16.gguf --scheme q8_0 -o model-q8_0.gguf", "of 8 bits, from a GGUF file"},
      {"pagoda quantize ./Llama-3.2-1B --scheme gptq --calibration texts.txt -o ./Llama-3.2-1B-gptq",
       "a Hugging Face folder"},
  };
  table.positional = "model";
  Flag out = flag("output", "OUT", to_text(&o.out), "the file, or the new folder, to write");
  out.aliases = {"o"};
  table.flags = {
      flag("model", "MODEL", to_text(&o.model),
           "a .gguf file, a Hugging Face folder, or a name in the cache"),
      flag("scheme", "SCHEME",
           to_choice<std::string>(&o.scheme, {{"q8_0", "q8_0"},
                                              {"q4_0", "q4_0"},
                                              {"q4_k", "q4_k"},
                                              {"gptq", "gptq"},
                                              {"awq", "awq"},
                                              {"fp8", "fp8"}}),
           "q8_0 (8.5 bits per weight), q4_0 (4.5), q4_k (4.8, the sensitive layers wider): a GGUF file; "
           "gptq, "
           "awq, fp8: a Hugging Face folder, from one"),
      std::move(out),
      flag("bits", "N", to_integer(&o.bits, {.min = 4, .max = 8}), "of gptq: 4 or 8 (default: 4)"),
      flag("group-size", "COLUMNS", to_integer(&o.group_size, {.min = -1, .max = 1 << 16}),
           "of gptq and awq: columns that share a scale; -1: a whole row (default: 128)"),
      flag("calibration", "FILE", to_text(&o.calibration),
           "of gptq and awq: text like what the model will read; 65,536 tokens of it are used"),
      flag("samples", "N", to_integer(&o.samples, {.min = 1, .max = 4096}),
           "of gptq and awq: pieces of 512 tokens to calibrate with (default: 128)"),
      flag("threads", "N", to_integer(&o.threads, {.min = 0, .max = 4096}),
           "worker threads (default: one per usable core)"),
  };
  return table;
}

int report(const Invocation& invocation, const Error& error) {
  const Paint paint = Paint::for_descriptor(STDERR_FILENO);
  fmt::print(stderr, "{} {}\n", paint(Ink::kRed, invocation.program + ":"), error.message);
  const bool askers_fault =
      error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kUnsupported;
  return askers_fault ? kExitUsage : kExitFailure;
}

Status check(const QuantizeOptions& options) {
  const auto needed = [](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument, format("{}; `pagoda quantize --help` shows how", what));
  };
  if (options.model.empty()) return needed("no MODEL given");
  if (options.scheme.empty()) return needed("no --scheme given: q8_0, q4_0, q4_k, gptq, awq or fp8");
  if (options.out.empty()) return needed("no -o OUT given");
  const bool calibrated = options.scheme == "gptq" || options.scheme == "awq";
  if (calibrated && options.calibration.empty())
    return needed(
        format("--scheme {} wants --calibration FILE, a text like what the model will read", options.scheme));
  if (options.bits != 4 && (options.scheme != "gptq" || options.bits != 8))
    return needed(format("--bits {}: gptq has 4 and 8, the other schemes one width each", options.bits));
  if (options.group_size == 0) return needed("--group-size 0 is no number of columns");
  return {};
}

Status run_gguf(const QuantizeOptions& options, const fs::path& model, ThreadPool& pool) {
  PAGODA_ASSIGN(const auto source, model::open_weights(model.string()));
  if (const std::string note = quantize::foreign_tokenizer_note(*source); !note.empty())
    log::warning("{}", note);
  ProgressLine line;
  return quantize::write_gguf(
      *source, *quantize::find_gguf_scheme(options.scheme), options.out, pool,
      [&](const quantize::Progress& progress) { line.show(progress.done, progress.total, progress.at); });
}

Status run_folder(const QuantizeOptions& options, const fs::path& model, ThreadPool& pool) {
  quantize::FolderOptions folder;
  folder.scheme = options.scheme == "awq"    ? quantize::FolderScheme::kAwq
                  : options.scheme == "gptq" ? quantize::FolderScheme::kGptq
                                             : quantize::FolderScheme::kF8;
  folder.bits = options.bits;
  folder.group_size = options.group_size;
  folder.samples = options.samples;
  if (!options.calibration.empty()) {
    PAGODA_ASSIGN(folder.calibration_text, read_whole_file(options.calibration, kMostCalibrationBytes));
  }
  PAGODA_ASSIGN(const kernels::IsaTable* isa, kernels::choose_isa());
  kernels::CpuCompute compute(*isa, pool);
  ProgressLine line;
  return quantize::write_folder(
      model.string(), options.out, folder, compute,
      [&](const quantize::Progress& progress) { line.show(progress.done, progress.total, progress.at); });
}

int64_t bytes_under(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return static_cast<int64_t>(fs::file_size(path, error));
  int64_t sum = 0;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_regular_file(error)) sum += static_cast<int64_t>(entry->file_size(error));
  }
  return sum;
}

Status run(const QuantizeOptions& options) {
  PAGODA_TRY(check(options));
  PAGODA_ASSIGN(const fs::path model,
                resolve_model(options.model, model_cache_folder(),
                              [](const std::string& name) { return pulled_model(name); }));
  std::error_code error;
  if (fs::equivalent(model, options.out, error))
    return fail(ErrorCode::kInvalidArgument, format("{} would be read and written at once", options.out));
  ThreadPool pool(options.threads > 0 ? options.threads : inspect_machine().cores);
  const bool gguf = quantize::find_gguf_scheme(options.scheme) != nullptr;
  PAGODA_TRY(gguf ? run_gguf(options, model, pool) : run_folder(options, model, pool));
  fmt::print(stderr, "wrote {}: {} for {}\n", options.out, human_bytes(bytes_under(options.out)),
             human_bytes(bytes_under(model)));
  return {};
}

}  // namespace

int run_quantize_command(const Invocation& invocation) {
  QuantizeOptions options;
  const FlagTable table = quantize_flag_table(options);
  const auto parsed = parse_flags(table, invocation.arguments);
  if (!parsed) return report(invocation, parsed.error());
  if (parsed->help) {
    fmt::print("{}", help_text(table, *parsed->help, Paint::for_descriptor(STDOUT_FILENO),
                               terminal_width(STDOUT_FILENO)));
    return kExitOk;
  }
  const Status done = run(options);
  return done ? kExitOk : report(invocation, done.error());
}

}  // namespace pagoda::app
