#include "base/format.h"
#include "smi/cell.h"
#include "smi/summary_table.h"

namespace pagoda::smi {
namespace {

constexpr std::string_view kRule =
    "+------------------+----------------------------------+-----------+-----------------------+\n";

std::string heads(const OutputStyle& style) {
  const bool shared = style.names_shared_mig_memory();
  const std::string_view memory = shared ? "Shared Memory-Usage" : "Memory-Usage";
  const std::string_view bar1 = shared ? "Shared BAR1-Usage" : "BAR1-Usage";
  const std::string_view engines = shared ? "        Shared         " : "      Shared           ";
  std::string out =
      "+-----------------------------------------------------------------------------------------+\n";
  out += format("| {:<88}|\n", "MIG devices:");
  out += kRule;
  out += format("| GPU  GI  CI  MIG |{:>33} |        Vol|{}|\n", memory, engines);
  out += format("|      ID  ID  Dev |{:>33} | SM     Unc| CE ENC  DEC  OFA  JPG |\n", bar1);
  out += format("|                  |{:34}|        ECC|{:23}|\n", "", "");
  out += "|==================+==================================+===========+=======================|\n";
  return out;
}

std::string size(const driver::Count& bytes) {
  return bytes ? format("{}MiB", whole_mib(*bytes)) : std::string(words_of(bytes.error()));
}

std::string rows(const driver::GpuSnapshot& gpu, const driver::MigDevice& mig) {
  std::string out =
      format("|{:>3}{:>5}{:>4}{:>4}  |{:>19} / {:>8}    |{:>3}{:>7} |{:>3}{:>4}{:>5}{:>5}{:>5} |\n",
             gpu.index, number(mig.gpu_instance).text, number(mig.compute_instance).text, mig.index,
             size(mig.memory.used), size(mig.memory.total), number(mig.multiprocessors).text,
             number(mig.sram_uncorrected).text, number(mig.copy_engines).text, number(mig.encoders).text,
             number(mig.decoders).text, number(mig.ofas).text, number(mig.jpegs).text);
  out += format("|{:18}|{:>19} / {:>8}    |{:11}|{:23}|\n", "", size(mig.bar1.used), size(mig.bar1.total), "",
                "");
  return out + std::string(kRule);
}

}  // namespace

std::string mig_table(const driver::MachineSnapshot& machine, const OutputStyle& style) {
  std::string body;
  bool any = false;
  for (const driver::GpuSnapshot& gpu : machine.gpus) {
    any = any || (gpu.modes.mig.current && *gpu.modes.mig.current == 1);
    for (const driver::MigDevice& mig : gpu.mig.devices) body += rows(gpu, mig);
  }
  if (!any) return {};
  if (body.empty()) body = format("|  {:<87}|\n{}", "No MIG devices found", kRule);
  return heads(style) + body;
}

}  // namespace pagoda::smi
