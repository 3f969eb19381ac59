#include "app/overview.h"

#include <unistd.h>

#include <string>

#include "app/machine.h"
#include "app/model_cache.h"
#include "app/subcommands.h"
#include "app/terminal.h"
#include "app/version.h"
#include "base/format.h"

namespace pagoda::app {
namespace {

void print_working_subcommands(const Paint& paint) {
  for (const auto& row : subcommands()) {
    if (row.run == nullptr) continue;
    fmt::print("  {}{}\n", paint(Ink::kCyan, format("{:<26}", format("pagoda {}", row.name))), row.summary);
  }
}

void print_row(const Paint& paint, std::string_view label, std::string_view text) {
  fmt::print("  {}{}\n", paint(Ink::kDim, format("{:<26}", label)), text);
}

std::string gpus_in_words(const std::vector<GpuSighting>& gpus) {
  if (gpus.empty()) return "no NVIDIA GPU found";
  std::string text;
  for (const auto& gpu : gpus) {
    text += text.empty() ? "" : ", ";
    text += gpu.name.empty() ? format("NVIDIA at {} (no driver loaded)", gpu.pci_address) : gpu.name;
  }
  return text + "; this version computes on the CPU";
}

void print_models(const Paint& paint) {
  constexpr size_t kShown = 5;
  const auto models = list_models(model_cache_folder());
  if (models.empty()) return print_row(paint, "Models", format("none in {}", model_cache_folder().string()));
  for (size_t i = 0; i < models.size() && i < kShown; ++i) {
    print_row(paint, i == 0 ? "Models" : "", format("{} ({})", models[i].name, human_bytes(models[i].bytes)));
  }
  if (models.size() > kShown) print_row(paint, "", format("and {} more", models.size() - kShown));
}

}  // namespace

void print_usage() {
  const Paint paint = Paint::for_descriptor(STDOUT_FILENO);
  fmt::print("{}\n\n", paint(Ink::kBold, "Usage: pagoda SUBCOMMAND [ARGUMENTS]"));
  print_working_subcommands(paint);
  fmt::print("\n  pagoda help SUBCOMMAND, pagoda --version\n");
}

void print_overview() {
  const Paint paint = Paint::for_descriptor(STDOUT_FILENO);
  const Machine machine = inspect_machine();
  fmt::print("{}: one program for a GPU server, from the driver to the chat window\n\n",
             paint(Ink::kBold, format("pagoda {}", version())));
  print_working_subcommands(paint);
  fmt::print("\n{}\n", paint(Ink::kBold, "This machine"));
  print_row(
      paint, "CPU",
      format("{}, {} core{}, {}", machine.cpu, machine.cores, machine.cores == 1 ? "" : "s", machine.isa));
  print_row(paint, "Memory", format("{} available", human_bytes(machine.memory_available)));
  print_row(paint, "GPUs", gpus_in_words(machine.gpus));
  print_models(paint);
  fmt::print("\n  pagoda help serve shows a subcommand's flags, pagoda --version the version\n");
}

}  // namespace pagoda::app
