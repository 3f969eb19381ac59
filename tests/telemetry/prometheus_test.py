"""Debian's prometheus scrapes `pagoda exporter` on simulated GPUs and `pagoda serve`: every query of every panel and rule has
data; each alert fires when its fault is injected and none before. prometheus_test.py PAGODA LIBRARY MODEL"""
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from exporter_process import OPEN_METRICS, Exporter
from prometheus_server import Prometheus, panel_queries, rule_expressions, without_threshold
from server import Server, cached_model

# What a fault looks like on the simulated machine, by the alert that it must raise.
GPU_FAULTS = {
    "GpuXidFatal": ["--xid", "4:95"],
    "GpuXidOfApplication": ["--xid", "5:31"],
    "GpuAsksForRecovery": ["--set", "0.recovery_action=1"],
    "GpuHot": ["--set", "1.temperature.gpu=93"],
    "GpuThermalSlowdownByHardware": ["--set", "2.clocks.event_reasons=0x48"],
    "GpuThermalSlowdownBySoftware": ["--set", "6.clocks.event_reasons=0x20"],
    "GpuPowerBrake": ["--set", "7.clocks.event_reasons=0x88"],
    "GpuMemoryUncorrected": ["--set", "0.ecc.uncorrected.volatile.total=3"],
    "GpuRowRemapFailed": ["--set", "1.remapped_rows.failure=1"],
    "GpuRowRemapPending": ["--set", "2.remapped_rows.pending=1"],
    "GpuPcieReplays": ["--set", "5.pcie.replays=5000"],
    "GpuNvlinkDown": ["--set", "6.nvlink.state=0"],
    "GpuLost": ["--set", "3.lost=1"],
}
# Conditions of load: alerts_test.yml has series that raise them.
LOAD_ALERTS = {"LlmQueueGrows", "LlmSlowFirstToken", "LlmKvCacheFull", "LlmPreempts", "LlmRequestsFail"}
# dcgm-exporter's and vLLM's names stay as they are, whatever the lint says of them.
KNOWN_COMPLAINTS = [
    r"DCGM_FI_DEV_PCIE_REPLAY_COUNTER metric name should not include type 'counter'",
    r"(DCGM|pagoda_gpu)_\S+ label names should be written in 'snake_case' not 'camelCase'",  # modelName
    r'DCGM_\S+ counter metrics should have "_total" suffix',
    r"(vllm|pagoda|DCGM)\S+ metric names should not contain ':'",
    r'vllm:iteration_tokens_total non-counter metrics should not have "_total" suffix',
    r'DCGM_\S+ non-counter metrics should not have "_total" suffix',
    r"\S+ non-histogram and non-summary metrics should not have \"_count\" suffix",
]


def check_text(name, get):
    """A page against promtool and, where it is installed, the strict OpenMetrics parser of prometheus_client."""
    check = subprocess.run(["promtool", "check", "metrics"], input=get(None), capture_output=True, text=True)
    complaints = [line for line in check.stderr.splitlines() if line.strip()]
    unexpected = sorted({line for line in complaints if not any(re.fullmatch(known, line) for known in KNOWN_COMPLAINTS)})
    assert check.returncode in (0, 3) and not unexpected, f"{name}: promtool ended with {check.returncode}: {unexpected}"
    opened = get(OPEN_METRICS)
    assert opened.endswith("# EOF\n"), opened[-200:]
    families = 0
    if importlib.util.find_spec("prometheus_client"):
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
        families = len(list(text_string_to_metric_families(opened)))
    else:
        print("without prometheus_client (tests/requirements.txt) OpenMetrics is checked by prometheus alone")
    print(f"{name}: {len(complaints)} known complaints of promtool, {families} families in OpenMetrics")


def check_queries(prometheus):
    """All of the panels and rules."""
    queries = [(f"{file}: {panel}", query) for file, panel, query in panel_queries()]
    for file in ("gpu.rules.yml", "llm.rules.yml"):
        for kind, name, expression in rule_expressions(file):
            queries.append((name, name if kind == "record" else without_threshold(expression)))
    empty = [f"{name}: no data for {query}" for name, query in queries if not prometheus.query(query)]
    assert not empty, "\n".join(empty)
    print(f"{len(queries)} queries of panels and rules, each with data")


def ask_some(server):
    for i in range(6):
        body = {"model": server.client.served_model(), "max_tokens": 8,
                "messages": [{"role": "user", "content": f"Count to {i}, please, slowly and with care."}]}
        answer = server.client.post("/v1/chat/completions", body)
        assert answer.status == 200, answer.body


def run_gpus(prometheus, exporter, idle_exporter):
    prometheus.wait_for(lambda: len(prometheus.query('up{job="gpu"} == 1') or []) == 2, "both exporters are up")
    prometheus.wait_for(lambda: prometheus.query("instance:gpus_up:sum"), "the first recording")
    quiet = prometheus.firing() - {"GpuMetricsStale"}
    assert not quiet, f"alerts without a fault: {quiet}"
    alerts = {name for kind, name, _ in rule_expressions("gpu.rules.yml") if kind == "alert"}
    assert alerts == set(GPU_FAULTS) | {"GpuExporterDown", "GpuMetricsStale"}, "an alert without a fault that raises it, or the reverse"
    for words in GPU_FAULTS.values():
        exporter.simulate(*words)
    idle_exporter.kill()
    expected = set(GPU_FAULTS) | {"GpuExporterDown"}
    prometheus.wait_for(lambda: expected <= prometheus.firing(), "every alert fires", 90)
    print(f"{len(expected)} GPU alerts fired, each by its fault")


def main():
    pagoda, library, model_name = sys.argv[1:4]
    for program in ("prometheus", "promtool"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed (Debian package prometheus)")
            return 77
    model = cached_model(model_name)
    if model is None:
        return 77
    with Exporter(pagoda, library, "h100x8:training", ["-c", "500"]) as exporter, \
            Exporter(pagoda, library, "t4", ["-c", "600000"]) as idle, \
            Server([pagoda, "serve", model, "--max-model-len", "512"], ended_by_script=True) as server:
        check_text("exporter", exporter.page)
        check_text("serve", lambda accept: server.client.get("/metrics", {"Accept": accept or "text/plain"}).body.decode())
        addresses = {"gpu": [f"127.0.0.1:{exporter.port}", f"127.0.0.1:{idle.port}"], "llm": [f"127.0.0.1:{server.port}"]}
        with Prometheus(addresses) as prometheus:
            prometheus.wait_for(lambda: "GpuMetricsStale" in prometheus.firing(), "an exporter that reads no more is told")
            ask_some(server)
            run_gpus(prometheus, exporter, idle)
            ask_some(server)
            prometheus.wait_for(lambda: prometheus.query("llm:inter_token_latency_seconds:p95"), "recordings of the server")
            check_queries(prometheus)
            server.process.terminate()
            server.process.wait(30)
            prometheus.wait_for(lambda: "LlmServerDown" in prometheus.firing(), "the server's end is told")
            alerts = {name for kind, name, _ in rule_expressions("llm.rules.yml") if kind == "alert"}
            assert alerts == LOAD_ALERTS | {"LlmServerDown"}, alerts
    return 0


if __name__ == "__main__":
    sys.exit(main())
