"""Where each value of a capture goes in a scenario: label of -q or field of --query-gpu → how to read it, which keys."""

BRANDS = {"Quadro": 1, "Tesla": 2, "NVS": 3, "GeForce": 5, "Titan": 6, "Quadro RTX": 12, "NVIDIA RTX": 13, "NVIDIA": 14,
          "GeForce RTX": 15, "Titan RTX": 16}
ARCHITECTURES = {"Kepler": 2, "Maxwell": 3, "Pascal": 4, "Volta": 5, "Turing": 6, "Ampere": 7, "Ada Lovelace": 8,
                 "Hopper": 9, "Blackwell": 10, "Rubin": 13}

# Words of states, whatever the state: no two readings use one word for different numbers.
WORDS = {
    "Enabled": 1, "Disabled": 0, "enabled": 1, "disabled": 0, "Yes": 1, "No": 0, "Active": 1, "Not Active": 0,
    "valid": 1, "invalid": 0, "None": 0, "HMM": 1, "ATS": 2, "Pass-Through": 1, "VGPU": 2, "Host VGPU": 3,
    "Default": 0, "Prohibited": 2, "Exclusive_Process": 3, "Reset": 1, "Reboot": 2, "Drain P2P": 3,
    "Drain and Reset": 4, "Recover IMEX Domain": 5, "Bus Reset": 6, "System Reboot": 7,
    "Not Started": 1, "In Progress": 2, "Completed": 3, "Success": 0, "Direct Connected": 1, "Switch Connected": 2,
    "Healthy": 1, "Unhealthy": 2, "Limited Capacity": 3,
}


def one(how, key):
    return how, (key,)


QUERY_KEYS = {
    "Product Name": one("text", "name"),
    "Product Brand": one("brand", "brand"),
    "Product Architecture": one("architecture", "architecture"),
    "Display Attached": one("word", "display_mode"),
    "Display Active": one("word", "display_active"),
    "Persistence Mode": one("word", "persistence_mode"),
    "Addressing Mode": one("word", "addressing_mode"),
    "MIG Mode/Current": one("word", "mig.current"),
    "MIG Mode/Pending": one("word", "mig.pending"),
    "Accounting Mode": one("word", "accounting.mode"),
    "Accounting Mode Buffer Size": one("number", "accounting.buffer_size"),
    "Serial Number": one("text", "serial"),
    "GPU UUID": one("text", "uuid"),
    "GPU PDI": one("hexadecimal", "pdi"),
    "Minor Number": one("number", "minor_number"),
    "VBIOS Version": one("text", "vbios_version"),
    "MultiGPU Board": one("word", "multi_gpu_board"),
    "Board ID": one("hexadecimal", "board_id"),
    "Board Part Number": one("text", "board_part_number"),
    "GPU Part Number": one("text", "private.gpu_part_number"),
    "FRU Part Number": one("text", "private.fru_part_number"),
    "Platform Info/Module Id": ("number", ("platform.module_id", "module_id")),
    "Inforom Version/Image Version": one("text", "inforom.image"),
    "Inforom Version/OEM Object": one("text", "inforom.oem"),
    "Inforom Version/ECC Object": one("text", "inforom.ecc"),
    "Inforom Version/Power Management Object": one("text", "inforom.power"),
    "Inforom Time Data/Time Run": one("number", "bbx_time_run_s"),
    "GPU C2C Mode": one("word", "c2c.enabled"),
    "GPU Virtualization Mode/Virtualization Mode": one("word", "virtualization.mode"),
    "GPU Recovery Action": one("word", "recovery_action"),
    "GSP Firmware Version": one("text", "gsp.firmware_version"),
    "PCI/Bus": one("hexadecimal", "pci.bus"),
    "PCI/Device": one("hexadecimal", "pci.device"),
    "PCI/Domain": one("hexadecimal", "pci.domain"),
    "PCI/Base Classcode": one("hexadecimal", "pci.base_class"),
    "PCI/Sub Classcode": one("hexadecimal", "pci.sub_class"),
    "PCI/Device Id": one("hexadecimal", "pci.device_id"),
    "PCI/Sub System Id": one("hexadecimal", "pci.subsystem_id"),
    "PCI/GPU Link Info/PCIe Generation/Max": one("number", "pcie.link_gen.max"),
    "PCI/GPU Link Info/PCIe Generation/Current": one("number", "pcie.link_gen.current"),
    "PCI/GPU Link Info/PCIe Generation/Device Max": one("number", "pcie.link_gen.gpu_max"),
    "PCI/GPU Link Info/PCIe Generation/Host Max": one("number", "private.pcie_host_generation_max"),
    "PCI/GPU Link Info/Link Width/Max": one("number", "pcie.link_width.max"),
    "PCI/GPU Link Info/Link Width/Current": one("number", "pcie.link_width.current"),
    "PCI/Replays Since Reset": one("number", "pcie.replays"),
    "PCI/Replay Number Rollovers": one("number", "pcie.replay_rollovers"),
    "PCI/Tx Throughput": one("number", "pcie.throughput.tx_kbps"),
    "PCI/Rx Throughput": one("number", "pcie.throughput.rx_kbps"),
    "PCI/Atomic Caps Outbound": one("atomics", "pcie.atomics.outbound"),
    "PCI/Atomic Caps Inbound": one("atomics", "pcie.atomics.inbound"),
    "Fan Speed": one("number", "fans.speed_percent"),
    "Performance State": one("state", "pstate"),
    "Clocks Event Reasons Counters/SW Power Capping": one("nanoseconds", "violation.power_ns"),
    "Clocks Event Reasons Counters/Sync Boost": one("nanoseconds", "violation.sync_boost_ns"),
    "Clocks Event Reasons Counters/SW Thermal Slowdown": one("nanoseconds", "slowdown_time.sw_thermal_ns"),
    "Clocks Event Reasons Counters/HW Thermal Slowdown": one("nanoseconds", "slowdown_time.hw_thermal_ns"),
    "Clocks Event Reasons Counters/HW Power Braking": one("nanoseconds", "slowdown_time.power_brake_ns"),
    "Sparse Operation Mode": one("word", "private.sparse_operation_mode"),
    "Compute Mode": one("word", "compute_mode"),
    "ECC Mode/Current": one("word", "ecc.mode.current"),
    "ECC Mode/Pending": one("word", "ecc.mode.pending"),
    "DRAM Encryption Mode/Current": one("word", "dram_encryption.current"),
    "DRAM Encryption Mode/Pending": one("word", "dram_encryption.pending"),
    "ECC Errors/Channel Repair Pending": one("word", "repair.channel_pending"),
    "ECC Errors/TPC Repair Pending": one("word", "repair.tpc_pending"),
    "ECC Errors/Unrepairable Memory": one("word", "repair.unrepairable_memory"),
    "Remapped Rows/Correctable Error": one("number", "remapped_rows.correctable"),
    "Remapped Rows/Uncorrectable Error": one("number", "remapped_rows.uncorrectable"),
    "Remapped Rows/Pending": one("word", "remapped_rows.pending"),
    "Remapped Rows/Remapping Failure Occurred": one("word", "remapped_rows.failure"),
    "Temperature/GPU Current Temp": one("number", "temperature.gpu"),
    "Temperature/GPU T.Limit Temp": one("number", "temperature.margin"),
    "Temperature/GPU Current T.Limit Temp": one("number", "temperature.margin"),
    "Temperature/GPU Shutdown Temp": one("number", "temperature.threshold.shutdown"),
    "Temperature/GPU Slowdown Temp": one("number", "temperature.threshold.slowdown"),
    "Temperature/GPU Max Operating Temp": one("number", "temperature.threshold.gpu_max"),
    "Temperature/Memory Max Operating Temp": one("number", "temperature.threshold.mem_max"),
    "Temperature/GPU Shutdown T.Limit Temp": one("number", "temperature.tlimit.shutdown"),
    "Temperature/GPU Slowdown T.Limit Temp": one("number", "temperature.tlimit.slowdown"),
    "Temperature/GPU Max Operating T.Limit Temp": one("number", "temperature.tlimit.gpu_max"),
    "Temperature/Memory Max Operating T.Limit Temp": one("number", "temperature.tlimit.mem_max"),
    "Temperature/GPU Target Temperature": one("number", "temperature.threshold.acoustic_current"),
    "Temperature/GPU Target Temperature Specification": one("number", "temperature.threshold.acoustic_current"),
    "Temperature/Memory Current Temp": one("number", "temperature.memory"),
    "GPU Memory Power Readings/Average Power Draw": one("milliwatts", "power.average_mw.memory"),
    "GPU Memory Power Readings/Instantaneous Power Draw": one("milliwatts", "power.instant_mw.memory"),
    "EDPp Multiplier": one("percent", "power.edpp_multiplier_percent"),
    "Max Clocks/Video": one("number", "clocks.max.video"),
    "Max Customer Boost Clocks/Graphics": one("number", "clocks.customer_boost_max.graphics"),
    "Fabric/State": one("word", "fabric.state"),
    "Fabric/Status": one("word", "fabric.status"),
    "Fabric/CliqueId": one("number", "fabric.clique_id"),
    "Fabric/ClusterUUID": one("text", "fabric.cluster_uuid"),
    "Fabric/Health/Summary": one("word", "fabric.health_summary"),
    "Capabilities/EGM": one("word", "capabilities_mask"),
}

CSV_KEYS = {
    "vbios_version": one("text", "vbios_version"),
    "inforom.checksum_validation": one("word", "inforom.valid"),
    "hostname": one("text", "hostname"),
    "pstate": one("state", "pstate"),
    "fan.speed": one("number", "fans.speed_percent"),
    "pcie.link.gen.current": one("number", "pcie.link_gen.current"),
    "clocks_event_reasons.supported": one("hexadecimal", "clocks.supported_event_reasons"),
    "clocks_event_reasons.active": one("hexadecimal", "clocks.event_reasons"),
    "clocks_event_reasons_counters.sw_power_cap": one("nanoseconds", "violation.power_ns"),
    "gsp.mode.current": one("word", "gsp.enabled"),
    "gsp.mode.default": one("word", "gsp.default"),
    "power.draw": one("milliwatts", "power.draw_mw"),
    "temperature.gpu": one("number", "temperature.gpu"),
    "temperature.gpu.tlimit": one("number", "temperature.margin"),
    "temperature.memory": one("number", "temperature.memory"),
    "platform.chassis_serial_number": one("text", "platform.chassis_serial"),
    "platform.slot_number": one("number", "platform.slot_number"),
    "platform.tray_index": one("number", "platform.tray_index"),
    "platform.host_id": one("number", "platform.host_id"),
    "platform.peer_type": one("word", "platform.peer_type"),
    "platform.module_id": ("number", ("platform.module_id", "module_id")),
    "ecc.errors.uncorrected.aggregate.sram.thresholdExceeded": one("word", "ecc.sram.threshold_exceeded"),
}


def families():
    """Rows that differ by one word."""
    for group, label in (("memory", "FB Memory Usage"), ("bar1", "BAR1 Memory Usage"),
                         ("protected_memory", "Conf Compute Protected Memory Usage")):
        for part in ("total", "reserved", "used", "free"):
            QUERY_KEYS[f"{label}/{part.capitalize()}"] = one("mib", f"{group}.{part}")
            CSV_KEYS[f"{group}.{part}"] = one("mib", f"{group}.{part}")
    for label, part in (("GPU", "gpu"), ("Memory", "memory"), ("Encoder", "encoder"), ("Decoder", "decoder"),
                        ("JPEG", "jpeg"), ("OFA", "ofa")):
        QUERY_KEYS[f"Utilization/{label}"] = CSV_KEYS[f"utilization.{part}"] = one("number", f"utilization.{part}")
    for label, group, field in (("Encoder Stats", "encoder_stats", "encoder.stats"), ("FBC Stats", "fbc_stats", "")):
        for part, key, name in (("Active Sessions", "sessions", "sessionCount"), ("Average FPS", "average_fps", "averageFps"),
                                ("Average Latency", "average_latency_us", "averageLatency")):
            QUERY_KEYS[f"{label}/{part}"] = one("number", f"{group}.{key}")
            if field:
                CSV_KEYS[f"{field}.{name}"] = one("number", f"{group}.{key}")
    for label, part in (("Graphics", "graphics"), ("SM", "sm"), ("Memory", "memory"), ("Video", "video")):
        QUERY_KEYS[f"Clocks/{label}"] = CSV_KEYS[f"clocks.current.{part}"] = one("number", f"clocks.current.{part}")
        QUERY_KEYS[f"Max Clocks/{label}"] = one("number", f"clocks.max.{part}")
    for label in ("Max", "High", "Partial", "Low", "None"):
        QUERY_KEYS[f"Remapped Rows/Bank Remap Availability Histogram/{label}"] = one(
            "number", f"remapped_rows.histogram.{label.lower()}")
        CSV_KEYS[f"remapped_rows.histogram.{label.lower()}"] = one("number", f"remapped_rows.histogram.{label.lower()}")
    for kind in ("corrected", "uncorrected"):
        for period in ("volatile", "aggregate"):
            for place in ("total", "l1_cache", "l2_cache", "dram", "register_file", "texture_memory", "cbu", "sram"):
                CSV_KEYS[f"ecc.errors.{kind}.{period}.{place}"] = one("number", f"ecc.{kind}.{period}.{place}")
    for period in ("volatile", "aggregate"):
        for part in ("parity", "secded"):
            CSV_KEYS[f"ecc.errors.uncorrected.{period}.sram.{part}"] = one("number", f"ecc.sram.{period}.{part}")
    for part in ("l2", "sm", "mcu", "pcie", "other"):
        CSV_KEYS[f"ecc.errors.uncorrected.aggregate.sram.{part}"] = one("number", f"ecc.sram.source.{part}")
    power_families()


def power_families():
    draws = (("Average Power Draw", "power.average_mw", "draw.average"),
             ("Instantaneous Power Draw", "power.instant_mw", "draw.instant"))
    limits = (("Current Power Limit", "power.current_limit_mw", "power.enforced_limit_mw"),
              ("Requested Power Limit", "power.requested_limit_mw", "power.limit_mw"),
              ("Default Power Limit", "power.field_default_limit_mw", "power.default_limit_mw"),
              ("Min Power Limit", "power.field_min_limit_mw", "power.min_limit_mw"),
              ("Max Power Limit", "power.field_max_limit_mw", "power.max_limit_mw"))
    for group, scope, prefix in (("GPU Power Readings", "gpu", "power."), ("Module Power Readings", "module", "module.power.")):
        for label, key, field in draws:
            QUERY_KEYS[f"{group}/{label}"] = CSV_KEYS[prefix + field] = one("milliwatts", f"{key}.{scope}")
        for label, key, call in limits:
            keys = (f"{key}.{scope}", call) if scope == "gpu" else (f"{key}.{scope}",)
            QUERY_KEYS[f"{group}/{label}"] = ("milliwatts", keys)
            QUERY_KEYS[f"{group}/GPU Ceiling Power Limit/{label}"] = ("milliwatts", keys)


families()
