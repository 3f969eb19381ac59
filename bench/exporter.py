#!/usr/bin/env python3
"""How long a scrape of `pagoda exporter` takes, and how much memory it has, on eight simulated GPUs with 60 fields each.

    bench/exporter.py PAGODA LIBNVIDIA_ML [--scrapes 2000] [--out FILE.json]

Readings go on every second meanwhile. One connection is kept, as Prometheus keeps it; the time is from the request's first
byte to the answer's last. LIBNVIDIA_ML: the build's simulated/libnvidia-ml.so.1.
"""
import argparse
import datetime
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tests/telemetry"))
from exporter_process import Exporter, samples
from exporter_soak import resident_kb

GPUS, FIELDS = 8, 60
PROFILING = ["GR_ENGINE_ACTIVE", "SM_ACTIVE", "SM_OCCUPANCY", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE", "PIPE_FP64_ACTIVE",
             "PIPE_FP32_ACTIVE", "PIPE_FP16_ACTIVE", "PCIE_TX_BYTES", "PCIE_RX_BYTES", "NVLINK_TX_BYTES", "NVLINK_RX_BYTES"]
DEVICE = """SM_CLOCK MEM_CLOCK VIDEO_CLOCK APP_SM_CLOCK APP_MEM_CLOCK CLOCKS_EVENT_REASONS MAX_SM_CLOCK MAX_MEM_CLOCK MAX_VIDEO_CLOCK
MEMORY_TEMP GPU_TEMP POWER_USAGE TOTAL_ENERGY_CONSUMPTION POWER_USAGE_INSTANT POWER_MGMT_LIMIT POWER_MGMT_LIMIT_MIN
POWER_MGMT_LIMIT_MAX POWER_MGMT_LIMIT_DEF PSTATE PCIE_TX_THROUGHPUT PCIE_RX_THROUGHPUT PCIE_REPLAY_COUNTER GPU_UTIL MEM_COPY_UTIL
ENC_UTIL DEC_UTIL XID_ERRORS PCIE_MAX_LINK_GEN PCIE_MAX_LINK_WIDTH PCIE_LINK_GEN PCIE_LINK_WIDTH FB_TOTAL FB_FREE FB_USED
FB_RESERVED FB_USED_PERCENT BAR1_TOTAL BAR1_USED BAR1_FREE ECC_CURRENT ECC_PENDING ECC_SBE_VOL_TOTAL ECC_DBE_VOL_TOTAL
ECC_SBE_AGG_TOTAL ECC_DBE_AGG_TOTAL UNCORRECTABLE_REMAPPED_ROWS CORRECTABLE_REMAPPED_ROWS ROW_REMAP_FAILURE ROW_REMAP_PENDING
NVLINK_BANDWIDTH_TOTAL NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL NVLINK_CRC_DATA_ERROR_COUNT_TOTAL NVLINK_REPLAY_ERROR_COUNT_TOTAL
NVLINK_RECOVERY_ERROR_COUNT_TOTAL PERSISTENCE_MODE COMPUTE_MODE MIG_MODE""".split()


def scrape(connection):
    begin = time.perf_counter()
    connection.request("GET", "/metrics")
    body = connection.getresponse().read()
    return time.perf_counter() - begin, len(body)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pagoda")
    parser.add_argument("library")
    parser.add_argument("--scrapes", type=int, default=2000)
    parser.add_argument("--out")
    options = parser.parse_args()
    names = [f"DCGM_FI_PROF_{name}" for name in PROFILING] + [f"DCGM_FI_DEV_{name}" for name in DEVICE]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as counters:
        counters.write("".join(f"{name}, gauge, A field.\n" for name in names))
        counters.flush()
        with Exporter(options.pagoda, options.library, f"h100x{GPUS}:training", ["-c", "1000", "-f", counters.name]) as exporter:
            exporter.wait_for(lambda: exporter.value("pagoda_exporter_collections_total") > 3, "some readings")
            shown = {sample[0] for sample in samples(exporter.page()) if sample[0].startswith("DCGM_")}
            if len(shown) < FIELDS:
                sys.exit(f"{len(shown)} fields are shown, {FIELDS} are meant; absent: {sorted(set(names) - shown)}")
            connection = http.client.HTTPConnection("127.0.0.1", exporter.port)
            times = sorted(scrape(connection)[0] for _ in range(options.scrapes))
            result = {
                "date": datetime.date.today().isoformat(), "cores": os.cpu_count(), "gpus": GPUS, "fields": len(shown),
                "scrapes": options.scrapes, "page_bytes": scrape(connection)[1],
                "scrape_ms": {"median": round(1e3 * statistics.median(times), 3), "p99": round(1e3 * times[int(len(times) * 0.99)], 3)},
                "reading_ms": round(1e3 * exporter.value("pagoda_exporter_collection_seconds"), 1),
                "resident_mb": round(resident_kb(exporter.process.pid) / 1024, 1)}
    result["version"] = subprocess.run([options.pagoda, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    text = json.dumps(result, indent=1)
    print(text)
    if options.out:
        pathlib.Path(options.out).write_text(text + "\n", encoding="utf-8")
    if result["scrape_ms"]["median"] > 2 or result["resident_mb"] > 30:
        sys.exit("over 2 ms at the median, or over 30 MB")


if __name__ == "__main__":
    main()
