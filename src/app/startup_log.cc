#include "app/startup_log.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "app/machine.h"
#include "app/version.h"
#include "base/log.h"

namespace pagoda::app {
namespace {

// Seconds since boot at which this process started: field 22 of /proc/self/stat (proc(5)), in clock ticks.
double process_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::string field;
  for (int i = 3; i <= 22 && fields >> field; ++i) {
  }
  return std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double seconds_since_boot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// 49152 → "49,152"
std::string grouped(int64_t number) {
  if (number < 1000) return std::to_string(number);
  return format("{},{:03}", grouped(number / 1000), number % 1000);
}

std::string_view words_for(model::Precision precision) {
  switch (precision) {
    case model::Precision::kInt8:
      return "as quantised, int8 activations";
    case model::Precision::kBFloat16:
      return "bf16";
    case model::Precision::kFloat16:
      return "f16, f32 activations";
    default:
      return "f32";
  }
}

// The dtype that most bytes are of.
std::string_view main_dtype(const model::WeightSource& source) {
  std::vector<std::pair<DType, int64_t>> sizes;
  source.for_each([&](const std::string&, const TensorView& tensor) {
    const auto bytes = static_cast<int64_t>(tensor.row_bytes()) * tensor.rows();
    for (auto& [dtype, sum] : sizes) {
      if (dtype == tensor.dtype) {
        sum += bytes;
        return;
      }
    }
    sizes.emplace_back(tensor.dtype, bytes);
  });
  std::pair<DType, int64_t> largest{DType::kF32, -1};
  for (const auto& size : sizes) {
    if (size.second > largest.second) largest = size;
  }
  return info_of(largest.first).name;
}

}  // namespace

double StartupLog::seconds() const {
  return seconds_since_boot() - process_start();
}

double StartupLog::lap() {
  const double seconds = phase_.seconds();
  phase_.restart();
  return seconds;
}

void StartupLog::machine(int threads, std::string_view isa) const {
  const Machine machine = inspect_machine();
  log::info("pagoda {} on {}: {} thread{}, {}, {} available", version(), machine.cpu, threads,
            threads == 1 ? "" : "s", isa, human_bytes(machine.memory_available));
}

void StartupLog::source(const model::WeightSource& source, const model::ModelConfig& config) {
  int64_t parameters = 0;
  source.for_each(
      [&](const std::string&, const TensorView& tensor) { parameters += tensor.shape.elements(); });
  log::info("model    {}: {}, {:.1f} M parameters, mostly {}, {} layers, context {}   {:.3f} s",
            config.name.empty() ? source.path() : config.name, config.architecture,
            static_cast<double>(parameters) * 1e-6, main_dtype(source), config.layers,
            grouped(config.context), lap());
}

void StartupLog::text(std::string_view tokenizer, int vocabulary, bool has_template) {
  log::info("text     {} tokenizer, {} tokens, {}   {:.3f} s", tokenizer, grouped(vocabulary),
            has_template ? "chat template" : "no chat template: /v1/chat/completions wants --chat-template",
            lap());
}

void StartupLog::weights(const model::Model& model) {
  log::info("weights  {} packed ({})   {:.3f} s", human_bytes(model.weight_bytes()),
            words_for(model.precision()), lap());
}

void StartupLog::draft(const model::WeightSource& source, int64_t bytes) {
  log::info("guesses  by {}, {} with its KV   {:.3f} s", source.path(), human_bytes(bytes), lap());
}

void StartupLog::kv(const ServingPlan& plan, const ServeOptions& options) {
  std::string blocks;
  for (const int count : plan.memory.blocks) blocks += (blocks.empty() ? "" : " + ") + grouped(count);
  std::string swap =
      plan.swap_bytes > 0 ? format(", {} of swap space", human_bytes(plan.swap_bytes)) : std::string();
  log::info("KV       {} blocks of {} tokens, {}, up to {}: {:.1f} sequences of {} tokens{}   {:.3f} s",
            blocks, options.block_size, info_of(plan.kv_dtype).name, human_bytes(plan.memory.kv),
            plan.memory.sequences, grouped(plan.max_model_len), swap, lap());
}

void StartupLog::serving(const ServeOptions& options, int port, std::string_view model_name) const {
  const bool tls = !options.tls_certificate_file.empty();
  const std::string address = options.unix_socket.empty()
                                  ? format("{}://{}:{}", tls ? "https" : "http", options.host, port)
                                  : format("unix:{}", options.unix_socket);
  log::info("serving  \"{}\" at {}{}, ready after {:.2f} s", model_name, address, options.root_path,
            seconds());
}

}  // namespace pagoda::app
