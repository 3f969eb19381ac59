#include <array>

#include "smi/gpu_field.h"
#include "smi/gpu_field_cells.h"
#include "smi/names.h"

namespace pagoda::smi {
namespace {

constexpr std::array kFields = {
    GpuField{"ecc.errors.corrected.volatile.device_memory", "", "", driver::kEccSection,
             "Corrected errors of device memory since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccDram]); }},
    GpuField{"ecc.errors.corrected.volatile.dram", "", "", driver::kEccSection,
             "Corrected errors of DRAM since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccDram]); }},
    GpuField{"ecc.errors.corrected.volatile.register_file", "", "", driver::kEccSection,
             "Corrected errors of the register file since the driver was loaded.",
             [](const FieldContext& f) {
               return number(f.gpu.ecc.volatile_corrected.at[driver::kEccRegisterFile]);
             }},
    GpuField{"ecc.errors.corrected.volatile.l1_cache", "", "", driver::kEccSection,
             "Corrected errors of the L1 cache since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccL1]); }},
    GpuField{"ecc.errors.corrected.volatile.l2_cache", "", "", driver::kEccSection,
             "Corrected errors of the L2 cache since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccL2]); }},
    GpuField{
        "ecc.errors.corrected.volatile.texture_memory", "", "", driver::kEccSection,
        "Corrected errors of texture memory since the driver was loaded.",
        [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccTexture]); }},
    GpuField{"ecc.errors.corrected.volatile.cbu", "", "", driver::kEccSection,
             "Corrected errors of the convergence unit since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccCbu]); }},
    GpuField{"ecc.errors.corrected.volatile.sram", "", "", driver::kEccSection,
             "Corrected errors of SRAM since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.at[driver::kEccSram]); }},
    GpuField{"ecc.errors.corrected.volatile.total", "", "", driver::kEccSection,
             "Corrected errors since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_corrected.total); }},
    GpuField{
        "ecc.errors.corrected.aggregate.device_memory", "", "", driver::kEccSection,
        "Corrected errors of device memory in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccDram]); }},
    GpuField{
        "ecc.errors.corrected.aggregate.dram", "", "", driver::kEccSection,
        "Corrected errors of DRAM in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccDram]); }},
    GpuField{"ecc.errors.corrected.aggregate.register_file", "", "", driver::kEccSection,
             "Corrected errors of the register file in the life of the board.",
             [](const FieldContext& f) {
               return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccRegisterFile]);
             }},
    GpuField{"ecc.errors.corrected.aggregate.l1_cache", "", "", driver::kEccSection,
             "Corrected errors of the L1 cache in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccL1]); }},
    GpuField{"ecc.errors.corrected.aggregate.l2_cache", "", "", driver::kEccSection,
             "Corrected errors of the L2 cache in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccL2]); }},
    GpuField{
        "ecc.errors.corrected.aggregate.texture_memory", "", "", driver::kEccSection,
        "Corrected errors of texture memory in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccTexture]); }},
    GpuField{"ecc.errors.corrected.aggregate.cbu", "", "", driver::kEccSection,
             "Corrected errors of the convergence unit in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccCbu]); }},
    GpuField{
        "ecc.errors.corrected.aggregate.sram", "", "", driver::kEccSection,
        "Corrected errors of SRAM in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.at[driver::kEccSram]); }},
    GpuField{"ecc.errors.corrected.aggregate.total", "", "", driver::kEccSection,
             "Corrected errors in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_corrected.total); }},
    GpuField{
        "ecc.errors.uncorrected.volatile.device_memory", "", "", driver::kEccSection,
        "Uncorrected errors of device memory since the driver was loaded.",
        [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccDram]); }},
    GpuField{
        "ecc.errors.uncorrected.volatile.dram", "", "", driver::kEccSection,
        "Uncorrected errors of DRAM since the driver was loaded.",
        [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccDram]); }},
    GpuField{"ecc.errors.uncorrected.volatile.register_file", "", "", driver::kEccSection,
             "Uncorrected errors of the register file since the driver was loaded.",
             [](const FieldContext& f) {
               return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccRegisterFile]);
             }},
    GpuField{"ecc.errors.uncorrected.volatile.l1_cache", "", "", driver::kEccSection,
             "Uncorrected errors of the L1 cache since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccL1]); }},
    GpuField{"ecc.errors.uncorrected.volatile.l2_cache", "", "", driver::kEccSection,
             "Uncorrected errors of the L2 cache since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccL2]); }},
    GpuField{
        "ecc.errors.uncorrected.volatile.texture_memory", "", "", driver::kEccSection,
        "Uncorrected errors of texture memory since the driver was loaded.",
        [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccTexture]); }},
    GpuField{
        "ecc.errors.uncorrected.volatile.cbu", "", "", driver::kEccSection,
        "Uncorrected errors of the convergence unit since the driver was loaded.",
        [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccCbu]); }},
    GpuField{
        "ecc.errors.uncorrected.volatile.sram", "", "", driver::kEccSection,
        "Uncorrected errors of SRAM since the driver was loaded.",
        [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.at[driver::kEccSram]); }},
    GpuField{"ecc.errors.uncorrected.volatile.total", "", "", driver::kEccSection,
             "Uncorrected errors since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.volatile_uncorrected.total); }},
    GpuField{
        "ecc.errors.uncorrected.aggregate.device_memory", "", "", driver::kEccSection,
        "Uncorrected errors of device memory in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccDram]); }},
    GpuField{
        "ecc.errors.uncorrected.aggregate.dram", "", "", driver::kEccSection,
        "Uncorrected errors of DRAM in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccDram]); }},
    GpuField{"ecc.errors.uncorrected.aggregate.register_file", "", "", driver::kEccSection,
             "Uncorrected errors of the register file in the life of the board.",
             [](const FieldContext& f) {
               return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccRegisterFile]);
             }},
    GpuField{
        "ecc.errors.uncorrected.aggregate.l1_cache", "", "", driver::kEccSection,
        "Uncorrected errors of the L1 cache in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccL1]); }},
    GpuField{
        "ecc.errors.uncorrected.aggregate.l2_cache", "", "", driver::kEccSection,
        "Uncorrected errors of the L2 cache in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccL2]); }},
    GpuField{"ecc.errors.uncorrected.aggregate.texture_memory", "", "", driver::kEccSection,
             "Uncorrected errors of texture memory in the life of the board.",
             [](const FieldContext&
                    f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccTexture]); }},
    GpuField{
        "ecc.errors.uncorrected.aggregate.cbu", "", "", driver::kEccSection,
        "Uncorrected errors of the convergence unit in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccCbu]); }},
    GpuField{
        "ecc.errors.uncorrected.aggregate.sram", "", "", driver::kEccSection,
        "Uncorrected errors of SRAM in the life of the board.",
        [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.at[driver::kEccSram]); }},
    GpuField{"ecc.errors.uncorrected.aggregate.total", "", "", driver::kEccSection,
             "Uncorrected errors in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.aggregate_uncorrected.total); }},
    GpuField{"ecc.errors.uncorrected.volatile.sram.parity", "", "", driver::kEccSection,
             "Parity errors of SRAM since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.volatile_parity); }},
    GpuField{"ecc.errors.uncorrected.volatile.sram.secded", "", "", driver::kEccSection,
             "Double-bit errors of SRAM since the driver was loaded.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.volatile_secded); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.parity", "", "", driver::kEccSection,
             "Parity errors of SRAM in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.aggregate_parity); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.secded", "", "", driver::kEccSection,
             "Double-bit errors of SRAM in the life of the board.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.aggregate_secded); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.thresholdExceeded", "", "", driver::kEccSection,
             "So many that the board should be replaced.",
             [](const FieldContext& f) { return yes_no(f.gpu.ecc.sram.threshold_exceeded); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.l2", "", "", driver::kEccSection,
             "Uncorrected SRAM errors of the L2 cache.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.l2); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.sm", "", "", driver::kEccSection,
             "Uncorrected SRAM errors of the SMs.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.sm); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.mcu", "", "", driver::kEccSection,
             "Uncorrected SRAM errors of microcontrollers.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.mcu); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.pcie", "", "", driver::kEccSection,
             "Uncorrected SRAM errors of the PCIe unit.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.pcie); }},
    GpuField{"ecc.errors.uncorrected.aggregate.sram.other", "", "", driver::kEccSection,
             "Uncorrected SRAM errors of other units.",
             [](const FieldContext& f) { return number(f.gpu.ecc.sram.other); }},
    GpuField{"retired_pages.single_bit_ecc.count", "retired_pages.sbe", "", driver::kRetiredSection,
             "Pages given up for repeated single-bit errors.",
             [](const FieldContext& f) { return page_count(f.gpu.retired.single_bit); }},
    GpuField{"retired_pages.double_bit.count", "retired_pages.dbe", "", driver::kRetiredSection,
             "Pages given up for a double-bit error.",
             [](const FieldContext& f) { return page_count(f.gpu.retired.double_bit); }},
    GpuField{"retired_pages.pending", "", "", driver::kRetiredSection,
             "Pages that are given up at the next reset.",
             [](const FieldContext& f) { return yes_no(f.gpu.retired.pending); }},
    GpuField{"remapped_rows.correctable", "remapped_rows.sbe", "", driver::kRemappedSection,
             "Rows replaced for correctable errors.",
             [](const FieldContext& f) { return number(f.gpu.remapped.correctable); }},
    GpuField{"remapped_rows.correctable_inactive", "", "", driver::kRemappedSection,
             "The same, not in effect yet.",
             [](const FieldContext& f) { return number(f.gpu.remapped.correctable_inactive); }},
    GpuField{"remapped_rows.uncorrectable", "remapped_rows.dbe", "", driver::kRemappedSection,
             "Rows replaced for uncorrectable errors.",
             [](const FieldContext& f) { return number(f.gpu.remapped.uncorrectable); }},
    GpuField{"remapped_rows.uncorrectable_inactive", "", "", driver::kRemappedSection,
             "The same, not in effect yet.",
             [](const FieldContext& f) { return number(f.gpu.remapped.uncorrectable_inactive); }},
    GpuField{"remapped_rows.pending", "", "", driver::kRemappedSection, "A replacement waits for a reset.",
             [](const FieldContext& f) { return yes_no(f.gpu.remapped.pending); }},
    GpuField{"remapped_rows.failure", "", "", driver::kRemappedSection,
             "A replacement failed: the board is to be replaced.",
             [](const FieldContext& f) { return yes_no(f.gpu.remapped.failure); }},
    GpuField{"remapped_rows.histogram.max", "", "", driver::kRemappedSection, "Banks with all spare rows.",
             [](const FieldContext& f) { return number(f.gpu.remapped.bank_max); }},
    GpuField{"remapped_rows.histogram.high", "", "", driver::kRemappedSection, "Banks with most spare rows.",
             [](const FieldContext& f) { return number(f.gpu.remapped.bank_high); }},
    GpuField{"remapped_rows.histogram.partial", "", "", driver::kRemappedSection,
             "Banks with some spare rows.",
             [](const FieldContext& f) { return number(f.gpu.remapped.bank_partial); }},
    GpuField{"remapped_rows.histogram.low", "", "", driver::kRemappedSection, "Banks with one spare row.",
             [](const FieldContext& f) { return number(f.gpu.remapped.bank_low); }},
    GpuField{"remapped_rows.histogram.none", "", "", driver::kRemappedSection, "Banks without spare rows.",
             [](const FieldContext& f) { return number(f.gpu.remapped.bank_none); }},
};

}  // namespace

std::span<const GpuField> ecc_fields() {
  return kFields;
}

}  // namespace pagoda::smi
