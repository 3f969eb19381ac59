#include <array>

#include "base/format.h"
#include "smi/names.h"
#include "smi/query_row.h"

namespace pagoda::smi {
namespace {

using Gpu = driver::GpuSnapshot;

Cell mode_now(const driver::Mode& mode) {
  return named(mode.current, kEnabledModes);
}
Cell mode_later(const driver::Mode& mode) {
  return named(mode.pending, kEnabledModes);
}

// A platform that fills the record with zeros has none but the module's number.
Cell platform(const Gpu& gpu, Cell cell) {
  const auto& serial = gpu.platform.chassis_serial;
  return serial && serial->empty() ? not_available() : cell;
}

bool in_mig_mode(const RowContext& c) {
  return !c.gpu.mig.devices.empty();
}

ReportNode leaf(std::string_view label, std::string_view tag, Cell cell) {
  return {.label = std::string(label), .tag = std::string(tag), .cell = std::move(cell)};
}
ReportNode heading(std::string_view label, std::string_view tag, std::vector<ReportNode> children) {
  ReportNode node{.label = std::string(label), .tag = std::string(tag), .cell = std::nullopt};
  node.children = std::move(children);
  return node;
}

ReportNode mig_node(const driver::MigDevice& mig, const OutputStyle& style) {
  const bool shared = style.names_shared_mig_memory();
  const std::vector<ReportNode> attributes = {
      leaf("Multiprocessor count", "multiprocessor_count", number(mig.multiprocessors)),
      leaf("Copy Engine count", "copy_engine_count", number(mig.copy_engines)),
      leaf("Encoder count", "encoder_count", number(mig.encoders)),
      leaf("Decoder count", "decoder_count", number(mig.decoders)),
      leaf("OFA count", "ofa_count", number(mig.ofas)),
      leaf("JPG count", "jpg_count", number(mig.jpegs)),
  };
  return heading(
      "MIG Device", "mig_device",
      {leaf("Index", "index", word(format("{}", mig.index))),
       leaf("GPU Instance ID", "gpu_instance_id", number(mig.gpu_instance)),
       leaf("Compute Instance ID", "compute_instance_id", number(mig.compute_instance)),
       heading("Device Attributes", "device_attributes", {heading("Shared", "shared", attributes)}),
       heading("ECC Errors", "ecc_error_count",
               {heading("Volatile", "volatile_count",
                        {leaf("SRAM Uncorrectable", "sram_uncorrectable", number(mig.sram_uncorrected))})}),
       heading(shared ? "Shared FB Memory Usage" : "FB Memory Usage", "fb_memory_usage",
               {leaf("Total", "total", mib(mig.memory.total)),
                leaf("Reserved", "reserved", mib(mig.memory.reserved)),
                leaf("Used", "used", mib(mig.memory.used)), leaf("Free", "free", mib(mig.memory.free))}),
       heading(shared ? "Shared BAR1 Memory" : "BAR1 Memory Usage", "bar1_memory_usage",
               {leaf("Total", "total", mib(mig.bar1.total)), leaf("Used", "used", mib(mig.bar1.used)),
                leaf("Free", "free", mib(mig.bar1.free))})});
}

void expand_mig(const RowContext& c, ReportNode& parent) {
  for (const driver::MigDevice& mig : c.gpu.mig.devices) parent.children.push_back(mig_node(mig, c.style));
}

Cell display_mode(const Gpu&) {
  return deprecated();
}

Cell board_id(const Gpu& gpu) {
  if (!gpu.identity.board_id) return absent_cell(gpu.identity.board_id.error());
  return word(format("{:#x}", *gpu.identity.board_id));
}

Cell pdi(const Gpu& gpu) {
  if (!gpu.identity.pdi) return absent_cell(gpu.identity.pdi.error());
  return word(format("{:#x}", *gpu.identity.pdi));
}

bool after_r580(const RowContext& c) {
  return c.style.branch >= 580;
}
bool before_r580(const RowContext& c) {
  return c.style.branch < 580;
}
bool after_r610(const RowContext& c) {
  return c.style.branch >= 610;
}

constexpr std::array kRows = {
    QueryRow{1, "Product Name", "product_name", 0, [](const Gpu& g) { return text(g.identity.name); }},
    QueryRow{1, "Product Brand", "product_brand", 0,
             [](const Gpu& g) { return named(g.identity.brand, kBrands); }},
    QueryRow{1, "Product Architecture", "product_architecture", 0,
             [](const Gpu& g) { return named(g.identity.architecture, kArchitectures); }},
    QueryRow{1, "Display Mode", "display_mode", 0, display_mode, after_r580},
    QueryRow{1, "Display Attached", "display_attached", 0,
             [](const Gpu& g) { return yes_no(g.modes.display_attached); }, after_r580},
    QueryRow{1, "Display Mode", "display_mode", 0,
             [](const Gpu& g) { return enabled_disabled(g.modes.display_attached); }, before_r580},
    QueryRow{1, "Display Active", "display_active", 0,
             [](const Gpu& g) { return enabled_disabled(g.modes.display_active); }},
    QueryRow{1, "Persistence Mode", "persistence_mode", 0,
             [](const Gpu& g) { return enabled_disabled(g.modes.persistence); }},
    QueryRow{1, "Addressing Mode", "addressing_mode", 0,
             [](const Gpu& g) { return named(g.modes.addressing, kAddressingModes); }},
    QueryRow{1, "MIG Mode", "mig_mode", 0},
    QueryRow{2, "Current", "current_mig", 0, [](const Gpu& g) { return mode_now(g.modes.mig); }},
    QueryRow{2, "Pending", "pending_mig", 0, [](const Gpu& g) { return mode_later(g.modes.mig); }},
    QueryRow{1, "", "mig_devices", 0, nullptr, in_mig_mode, expand_mig},
    QueryRow{1, "Accounting Mode", "accounting_mode", kAccounting,
             [](const Gpu& g) { return enabled_disabled(g.modes.accounting); }},
    QueryRow{1, "Accounting Mode Buffer Size", "accounting_mode_buffer_size", kAccounting,
             [](const Gpu& g) { return number(g.modes.accounting_buffer_size); }},
    QueryRow{1, "Driver Model", "driver_model", 0},
    QueryRow{2, "Current", "current_dm", 0,
             [](const Gpu& g) { return named(g.modes.driver_model.current, kDriverModels); }},
    QueryRow{2, "Pending", "pending_dm", 0,
             [](const Gpu& g) { return named(g.modes.driver_model.pending, kDriverModels); }},
    QueryRow{1, "Serial Number", "serial", 0, [](const Gpu& g) { return text(g.identity.serial); }},
    QueryRow{1, "GPU UUID", "uuid", 0, [](const Gpu& g) { return text(g.identity.uuid); }},
    QueryRow{1, "GPU PDI", "gpu_pdi", 0, pdi, after_r580},
    QueryRow{1, "Minor Number", "minor_number", 0, [](const Gpu& g) { return number(g.identity.minor); }},
    QueryRow{1, "VBIOS Version", "vbios_version", 0,
             [](const Gpu& g) { return text(g.identity.vbios_version); }},
    QueryRow{1, "MultiGPU Board", "multigpu_board", 0,
             [](const Gpu& g) { return yes_no(g.identity.multi_gpu_board); }},
    QueryRow{1, "Board ID", "board_id", 0, board_id},
    QueryRow{1, "Board Part Number", "board_part_number", 0,
             [](const Gpu& g) { return text(g.identity.board_part_number); }},
    QueryRow{1, "GPU Part Number", "gpu_part_number", 0,
             [](const Gpu& g) { return text(g.identity.gpu_part_number); }},
    QueryRow{1, "FRU Part Number", "gpu_fru_part_number", 0,
             [](const Gpu& g) { return text(g.identity.fru_part_number); }},
    QueryRow{1, "Platform Info", "platformInfo", 0},
    QueryRow{2, "Chassis Serial Number", "chassis_serial_number", 0,
             [](const Gpu& g) { return platform(g, text(g.platform.chassis_serial)); }},
    QueryRow{2, "Slot Number", "slot_number", 0,
             [](const Gpu& g) { return platform(g, number(g.platform.slot)); }},
    QueryRow{2, "Tray Index", "tray_index", 0,
             [](const Gpu& g) { return platform(g, number(g.platform.tray)); }},
    QueryRow{2, "Host ID", "host_id", 0, [](const Gpu& g) { return platform(g, number(g.platform.host)); }},
    QueryRow{2, "Peer Type", "peer_type", 0,
             [](const Gpu& g) { return platform(g, named(g.platform.peer_type, kPeerTypes)); }},
    QueryRow{2, "Module Id", "module_id", 0, [](const Gpu& g) { return number(g.platform.module); }},
    QueryRow{2, "GPU Fabric GUID", "gpu_fabric_guid", 0,
             [](const Gpu& g) { return platform(g, text(g.platform.fabric_guid)); }},
    QueryRow{1, "Inforom Version", "inforom_version", 0},
    QueryRow{2, "Image Version", "img_version", 0, [](const Gpu& g) { return text(g.inforom.image); }},
    QueryRow{2, "OEM Object", "oem_object", 0, [](const Gpu& g) { return text(g.inforom.oem); }},
    QueryRow{2, "ECC Object", "ecc_object", 0, [](const Gpu& g) { return text(g.inforom.ecc); }},
    QueryRow{2, "Power Management Object", "pwr_object", 0,
             [](const Gpu& g) { return text(g.inforom.power); }},
    QueryRow{1, "Inforom BBX Object Flush", "inforom_bbx_flush", 0},
    QueryRow{2, "Latest Timestamp", "latest_timestamp", 0,
             [](const Gpu& g) { return number(g.inforom.flush_timestamp_us); }},
    QueryRow{2, "Latest Duration", "latest_duration", 0,
             [](const Gpu& g) { return number(g.inforom.flush_duration_us, "us"); }},
    QueryRow{1, "Inforom Time Data", "inforom_time_data", 0, nullptr, after_r610},
    QueryRow{2, "Time Run", "time_run", 0,
             [](const Gpu& g) { return number(g.inforom.time_run_s, "seconds"); }, after_r610},
    QueryRow{1, "GPU Operation Mode", "gpu_operation_mode", 0},
    QueryRow{2, "Current", "current_gom", 0,
             [](const Gpu& g) { return named(g.modes.gpu_operation.current, kOperationModes); }},
    QueryRow{2, "Pending", "pending_gom", 0,
             [](const Gpu& g) { return named(g.modes.gpu_operation.pending, kOperationModes); }},
    QueryRow{1, "GPU C2C Mode", "c2c_mode", 0,
             [](const Gpu& g) { return named(g.modes.c2c, kEnabledModes); }},
    QueryRow{1, "GPU Virtualization Mode", "gpu_virtualization_mode", 0},
    QueryRow{2, "Virtualization Mode", "virtualization_mode", 0,
             [](const Gpu& g) { return named(g.modes.virtualization, kVirtualizationModes); }},
    QueryRow{2, "Host VGPU Mode", "host_vgpu_mode", 0,
             [](const Gpu& g) { return named(g.modes.host_vgpu, kHostVgpuModes); }},
    QueryRow{2, "vGPU Heterogeneous Mode", "vgpu_heterogeneous_mode", 0,
             [](const Gpu& g) { return named(g.modes.vgpu_heterogeneous, kEnabledModes); }},
    QueryRow{1, "GPU Recovery Action", "gpu_recovery_action", 0,
             [](const Gpu& g) { return named(g.modes.recovery_action, kRecoveryActions); }},
    QueryRow{1, "GSP Firmware Version", "gsp_firmware_version", kGspFirmware,
             [](const Gpu& g) { return text(g.modes.gsp_version); }},
    QueryRow{1, "IBMNPU", "ibmnpu", 0},
    QueryRow{2, "Relaxed Ordering Mode", "relaxed_ordering_mode", 0,
             [](const Gpu& g) { return text(g.modes.relaxed_ordering); }},
};

}  // namespace

std::span<const QueryRow> identity_rows() {
  return kRows;
}

}  // namespace pagoda::smi
