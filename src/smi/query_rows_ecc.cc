#include <array>

#include "smi/gpu_field_cells.h"
#include "smi/names.h"
#include "smi/query_row.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

// The call may answer with zeros on a GPU that has no ECC: then they count nothing.
Cell with_ecc(const Gpu& gpu, Cell cell) {
  return gpu.modes.ecc.current ? cell : absent_cell(gpu.modes.ecc.current.error());
}
Cell sram(const Gpu& gpu, const driver::Count& count) {
  return with_ecc(gpu, number(count));
}
Cell at(const driver::EccCounts& counts, driver::EccLocation location) {
  return number(counts.at[location]);
}

// Chips from Ampere on tell parity errors from SEC-DED ones, and repair.
bool tells_sram_kinds(const RowContext& c) {
  return c.gpu.ecc.sram.volatile_parity.has_value();
}
bool counts_sram_whole(const RowContext& c) {
  return !tells_sram_kinds(c);
}
bool tells_repairs(const RowContext& c) {
  return tells_sram_kinds(c) && c.style.branch >= 570;
}

bool remaps_rows(const RowContext& c) {
  return c.gpu.remapped.correctable.has_value();
}
bool remaps_no_rows(const RowContext& c) {
  return !remaps_rows(c);
}
bool tells_banks(const RowContext& c) {
  return remaps_rows(c) && c.gpu.remapped.bank_max.has_value();
}

Cell banks(const driver::Number& count) {
  return number(count, "bank(s)");
}

constexpr std::array kRows = {
    QueryRow{1, "DRAM Encryption Mode", "dram_encryption_mode", 0},
    QueryRow{2, "Current", "current_dram_encryption", 0,
             [](const Gpu& g) { return named(g.modes.dram_encryption.current, kEnabledModes); }},
    QueryRow{2, "Pending", "pending_dram_encryption", 0,
             [](const Gpu& g) { return named(g.modes.dram_encryption.pending, kEnabledModes); }},
    QueryRow{1, "ECC Mode", "ecc_mode", kEcc},
    QueryRow{2, "Current", "current_ecc", 0,
             [](const Gpu& g) { return named(g.modes.ecc.current, kEnabledModes); }},
    QueryRow{2, "Pending", "pending_ecc", 0,
             [](const Gpu& g) { return named(g.modes.ecc.pending, kEnabledModes); }},
    QueryRow{1, "ECC Errors", "ecc_errors", kEcc},
    QueryRow{2, "Volatile", "volatile", 0},
    QueryRow{3, "SRAM Correctable", "sram_correctable", 0,
             [](const Gpu& g) { return at(g.ecc.volatile_corrected, driver::kEccSram); }},
    QueryRow{3, "SRAM Uncorrectable", "sram_uncorrectable", 0,
             [](const Gpu& g) { return at(g.ecc.volatile_uncorrected, driver::kEccSram); },
             counts_sram_whole},
    QueryRow{3, "SRAM Uncorrectable Parity", "sram_uncorrectable_parity", 0,
             [](const Gpu& g) { return sram(g, g.ecc.sram.volatile_parity); }, tells_sram_kinds},
    QueryRow{3, "SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", 0,
             [](const Gpu& g) { return sram(g, g.ecc.sram.volatile_secded); }, tells_sram_kinds},
    QueryRow{3, "DRAM Correctable", "dram_correctable", 0,
             [](const Gpu& g) { return at(g.ecc.volatile_corrected, driver::kEccDram); }},
    QueryRow{3, "DRAM Uncorrectable", "dram_uncorrectable", 0,
             [](const Gpu& g) { return at(g.ecc.volatile_uncorrected, driver::kEccDram); }},
    QueryRow{2, "Aggregate", "aggregate", 0},
    QueryRow{3, "SRAM Correctable", "sram_correctable", 0,
             [](const Gpu& g) { return at(g.ecc.aggregate_corrected, driver::kEccSram); }},
    QueryRow{3, "SRAM Uncorrectable", "sram_uncorrectable", 0,
             [](const Gpu& g) { return at(g.ecc.aggregate_uncorrected, driver::kEccSram); },
             counts_sram_whole},
    QueryRow{3, "SRAM Uncorrectable Parity", "sram_uncorrectable_parity", 0,
             [](const Gpu& g) { return sram(g, g.ecc.sram.aggregate_parity); }, tells_sram_kinds},
    QueryRow{3, "SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", 0,
             [](const Gpu& g) { return sram(g, g.ecc.sram.aggregate_secded); }, tells_sram_kinds},
    QueryRow{3, "DRAM Correctable", "dram_correctable", 0,
             [](const Gpu& g) { return at(g.ecc.aggregate_corrected, driver::kEccDram); }},
    QueryRow{3, "DRAM Uncorrectable", "dram_uncorrectable", 0,
             [](const Gpu& g) { return at(g.ecc.aggregate_uncorrected, driver::kEccDram); }},
    QueryRow{3, "SRAM Threshold Exceeded", "sram_threshold_exceeded", 0,
             [](const Gpu& g) { return with_ecc(g, yes_no(g.ecc.sram.threshold_exceeded)); },
             tells_sram_kinds},
    QueryRow{2, "Aggregate Uncorrectable SRAM Sources", "aggregate_uncorrectable_sram_sources", 0, nullptr,
             tells_sram_kinds},
    QueryRow{3, "SRAM L2", "sram_l2", 0, [](const Gpu& g) { return sram(g, g.ecc.sram.l2); },
             tells_sram_kinds},
    QueryRow{3, "SRAM SM", "sram_sm", 0, [](const Gpu& g) { return sram(g, g.ecc.sram.sm); },
             tells_sram_kinds},
    QueryRow{3, "SRAM Microcontroller", "sram_microcontroller", 0,
             [](const Gpu& g) { return sram(g, g.ecc.sram.mcu); }, tells_sram_kinds},
    QueryRow{3, "SRAM PCIE", "sram_pcie", 0, [](const Gpu& g) { return sram(g, g.ecc.sram.pcie); },
             tells_sram_kinds},
    QueryRow{3, "SRAM Other", "sram_other", 0, [](const Gpu& g) { return sram(g, g.ecc.sram.other); },
             tells_sram_kinds},
    QueryRow{2, "Channel Repair Pending", "channel_repair_pending", 0,
             [](const Gpu& g) { return yes_no(g.ecc.channel_repair_pending); }, tells_repairs},
    QueryRow{2, "TPC Repair Pending", "tpc_repair_pending", 0,
             [](const Gpu& g) { return yes_no(g.ecc.tpc_repair_pending); }, tells_repairs},
    QueryRow{2, "Unrepairable Memory", "unrepairable_memory", 0,
             [](const Gpu& g) { return yes_no(g.ecc.unrepairable_memory); }, tells_repairs},
    QueryRow{1, "Retired Pages", "retired_pages", kPageRetirement},
    QueryRow{2, "Single Bit ECC", "multiple_single_bit_retirement", 0,
             [](const Gpu& g) { return page_count(g.retired.single_bit); }},
    QueryRow{2, "Double Bit ECC", "double_bit_retirement", 0,
             [](const Gpu& g) { return page_count(g.retired.double_bit); }},
    QueryRow{2, "Pending Page Blacklist", "pending_blacklist", 0,
             [](const Gpu& g) { return yes_no(g.retired.pending); }},
    QueryRow{1, "Remapped Rows", "remapped_rows", kRowRemapper,
             [](const Gpu& g) { return number(g.remapped.correctable); }, remaps_no_rows},
    QueryRow{1, "Remapped Rows", "remapped_rows", kRowRemapper, nullptr, remaps_rows},
    QueryRow{2, "Correctable Error", "remapped_row_corr", 0,
             [](const Gpu& g) { return number(g.remapped.correctable); }, remaps_rows},
    QueryRow{2, "Uncorrectable Error", "remapped_row_unc", 0,
             [](const Gpu& g) { return number(g.remapped.uncorrectable); }, remaps_rows},
    QueryRow{2, "Pending", "remapped_row_pending", 0, [](const Gpu& g) { return yes_no(g.remapped.pending); },
             remaps_rows},
    QueryRow{2, "Remapping Failure Occurred", "remapped_row_failure", 0,
             [](const Gpu& g) { return yes_no(g.remapped.failure); }, remaps_rows},
    QueryRow{2, "Bank Remap Availability Histogram", "row_remapper_histogram", 0, nullptr, tells_banks},
    QueryRow{3, "Max", "row_remapper_histogram_max", 0,
             [](const Gpu& g) { return banks(g.remapped.bank_max); }, tells_banks},
    QueryRow{3, "High", "row_remapper_histogram_high", 0,
             [](const Gpu& g) { return banks(g.remapped.bank_high); }, tells_banks},
    QueryRow{3, "Partial", "row_remapper_histogram_partial", 0,
             [](const Gpu& g) { return banks(g.remapped.bank_partial); }, tells_banks},
    QueryRow{3, "Low", "row_remapper_histogram_low", 0,
             [](const Gpu& g) { return banks(g.remapped.bank_low); }, tells_banks},
    QueryRow{3, "None", "row_remapper_histogram_none", 0,
             [](const Gpu& g) { return banks(g.remapped.bank_none); }, tells_banks},
};

}  // namespace

std::span<const QueryRow> ecc_rows() {
  return kRows;
}

}  // namespace pagoda::smi
