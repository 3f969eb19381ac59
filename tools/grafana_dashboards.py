#!/usr/bin/env python3
"""Writes deploy/grafana/dashboards/*.json from the tables below: tools/grafana_dashboards.py [--check]

A row of a table is one panel: its kind, title, unit, width in 24ths, and its queries with their legends. --check writes
nothing and ends with 1 where a file is not what the tables say.
"""
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "deploy/grafana/dashboards"
NODE = 'instance=~"$instance"'
GPU = 'instance=~"$instance", gpu=~"$gpu"'
LLM = 'instance=~"$instance", model_name=~"$model"'
RATE = "[$__rate_interval]"


def quantiles(metric):
    return [(f'histogram_quantile({q}, sum by (le) (rate({metric}_bucket{{{LLM}}}{RATE})))', name)
            for q, name in ((0.5, "median"), (0.95, "95th"), (0.99, "99th"))]


def of_gpu(*fields, labels=GPU, wrap="{}"):
    """Queries and legends of (field, legend) pairs, each with the dashboard's choice of GPUs."""
    return [(wrap.format(f"{field}{{{labels}}}"), legend) for field, legend in fields]


EACH = "{{instance}} GPU {{gpu}}"

FLEET = [
    ("stat", "GPUs that answer", "none", 4, of_gpu(("pagoda_gpu_up", ""), labels=NODE, wrap="sum({})")),
    ("stat", "GPUs lost", "none", 4, [(f"count(pagoda_gpu_up{{{NODE}}}) - sum(pagoda_gpu_up{{{NODE}}})", "")]),
    ("stat", "Mean utilization", "percent", 4, of_gpu(("DCGM_FI_DEV_GPU_UTIL", ""), labels=NODE, wrap="avg({})")),
    ("stat", "Memory in use", "percentunit", 4,
     [(f"sum(DCGM_FI_DEV_FB_USED{{{NODE}}}) / (sum(DCGM_FI_DEV_FB_USED{{{NODE}}}) + sum(DCGM_FI_DEV_FB_FREE{{{NODE}}}))", "")]),
    ("stat", "Power", "watt", 4, of_gpu(("DCGM_FI_DEV_POWER_USAGE", ""), labels=NODE, wrap="sum(max by (instance, gpu) ({}))")),
    ("stat", "Alerts", "none", 4, [('sum(ALERTS{alertstate="firing"}) or vector(0)', "")]),
    ("timeseries", "Utilization", "percent", 12, of_gpu(("DCGM_FI_DEV_GPU_UTIL", EACH), labels=NODE)),
    ("timeseries", "Memory in use", "mbytes", 12, of_gpu(("DCGM_FI_DEV_FB_USED", EACH), labels=NODE)),
    ("timeseries", "Tensor cores busy", "percentunit", 12, of_gpu(("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", EACH), labels=NODE)),
    ("timeseries", "Memory traffic against its limit", "percentunit", 12, of_gpu(("DCGM_FI_PROF_DRAM_ACTIVE", EACH), labels=NODE)),
    ("timeseries", "Temperature", "celsius", 12, of_gpu(("DCGM_FI_DEV_GPU_TEMP", EACH), labels=NODE)),
    ("timeseries", "Power", "watt", 12, of_gpu(("DCGM_FI_DEV_POWER_USAGE", EACH), labels=NODE)),
    ("timeseries", "GPUs with a reason for a lower clock", "none", 12,
     of_gpu(("pagoda_gpu_clock_event", "{{clock_event}}"), labels=NODE, wrap="sum by (clock_event) ({})")),
    ("timeseries", "NVLinks down", "none", 12,
     of_gpu(("pagoda_gpu_nvlinks", EACH), labels=NODE + ', state="inactive"')),
    ("table", "XIDs, by their last time", "dateTimeFromNow", 12,
     of_gpu(("pagoda_gpu_xid_last_timestamp_seconds", ""), labels=NODE, wrap="{} * 1000")),
    ("table", "Uncorrected memory errors", "none", 12, of_gpu(("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", ""), labels=NODE)),
]

ONE_GPU = [
    ("stat", "Answers", "bool_yes_no", 4, of_gpu(("pagoda_gpu_up", ""))),
    ("stat", "Last XID", "none", 4, of_gpu(("DCGM_FI_DEV_XID_ERRORS", "{{err_msg}}"))),
    ("stat", "Driver asks for", "none", 4, of_gpu(("pagoda_gpu_recovery_action", ""))),
    ("stat", "Temperature", "celsius", 4, of_gpu(("DCGM_FI_DEV_GPU_TEMP", ""))),
    ("stat", "Power", "watt", 4, of_gpu(("DCGM_FI_DEV_POWER_USAGE", ""))),
    ("stat", "Uncorrected memory errors", "none", 4, of_gpu(("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", ""))),
    ("timeseries", "Utilization", "percent", 12,
     of_gpu(("DCGM_FI_DEV_GPU_UTIL", "GPU"), ("DCGM_FI_DEV_MEM_COPY_UTIL", "memory"),
            ("DCGM_FI_DEV_ENC_UTIL", "encoder"), ("DCGM_FI_DEV_DEC_UTIL", "decoder"))),
    ("timeseries", "What the chip does", "percentunit", 12,
     of_gpu(("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "engine"), ("DCGM_FI_PROF_SM_ACTIVE", "multiprocessors"),
            ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "tensor cores"), ("DCGM_FI_PROF_DRAM_ACTIVE", "memory"))),
    ("timeseries", "Memory", "mbytes", 12,
     of_gpu(("DCGM_FI_DEV_FB_USED", "used"), ("DCGM_FI_DEV_FB_RESERVED", "reserved"), ("DCGM_FI_DEV_FB_FREE", "free"))),
    ("timeseries", "Power and its limit", "watt", 12,
     of_gpu(("DCGM_FI_DEV_POWER_USAGE", "drawn"), ("DCGM_FI_DEV_POWER_MGMT_LIMIT", "limit"))
     + of_gpu(("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "by its energy counter"), wrap="rate({}" + RATE + ") / 1000")),
    ("timeseries", "Temperature", "celsius", 12,
     of_gpu(("DCGM_FI_DEV_GPU_TEMP", "GPU"), ("DCGM_FI_DEV_MEMORY_TEMP", "memory"))),
    ("timeseries", "Clocks", "rotmhz", 12,
     of_gpu(("DCGM_FI_DEV_SM_CLOCK", "multiprocessors"), ("DCGM_FI_DEV_MEM_CLOCK", "memory"))),
    ("timeseries", "Reasons for a lower clock", "none", 12, of_gpu(("pagoda_gpu_clock_event", "{{clock_event}}"))),
    ("timeseries", "PCIe", "Bps", 12,
     of_gpu(("DCGM_FI_PROF_PCIE_TX_BYTES", "sent"), ("DCGM_FI_PROF_PCIE_RX_BYTES", "received"))),
    ("timeseries", "PCIe packets sent again", "none", 12,
     of_gpu(("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "a minute"), wrap="rate({}" + RATE + ") * 60")),
    ("timeseries", "NVLinks", "none", 12, of_gpu(("pagoda_gpu_nvlinks", "{{state}}"))),
    ("timeseries", "Memory rows replaced", "none", 12,
     of_gpu(("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "after uncorrected errors"),
            ("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "after corrected errors"),
            ("DCGM_FI_DEV_ROW_REMAP_PENDING", "pending"), ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "failed"))),
    ("table", "Fields without a value, by reason", "none", 12, of_gpu(("pagoda_gpu_absent_fields", ""))),
]

SERVING = [
    ("stat", "Running", "none", 4, [(f"sum(vllm:num_requests_running{{{LLM}}})", "")]),
    ("stat", "Waiting", "none", 4, [(f"sum(vllm:num_requests_waiting{{{LLM}}})", "")]),
    ("stat", "Tokens a second", "none", 4, [(f"sum(rate(vllm:generation_tokens_total{{{LLM}}}{RATE}))", "")]),
    ("stat", "KV cache in use", "percentunit", 4, [(f"max(vllm:kv_cache_usage_perc{{{LLM}}})", "")]),
    ("stat", "Prompt tokens found in cache", "percentunit", 4,
     [(f"sum(rate(vllm:prefix_cache_hits_total{{{LLM}}}{RATE})) / sum(rate(vllm:prefix_cache_queries_total{{{LLM}}}{RATE}))", "")]),
    ("stat", "Answered by", "none", 4, [(f"vllm:cache_config_info{{{LLM}}}", "{{model_name}}")]),
    ("timeseries", "Wait for the first token", "s", 12, quantiles("vllm:time_to_first_token_seconds")),
    ("timeseries", "Between tokens", "s", 12, quantiles("vllm:inter_token_latency_seconds")),
    ("timeseries", "Whole request", "s", 12, quantiles("vllm:e2e_request_latency_seconds")),
    ("timeseries", "In the queue", "s", 12, quantiles("vllm:request_queue_time_seconds")),
    ("timeseries", "Tokens", "none", 12,
     [(f"sum(rate(vllm:prompt_tokens_total{{{LLM}}}{RATE}))", "in"), (f"sum(rate(vllm:generation_tokens_total{{{LLM}}}{RATE}))", "out")]),
    ("timeseries", "Requests", "none", 12,
     [(f"sum(vllm:num_requests_{state}{{{LLM}}})", state) for state in ("running", "waiting", "swapped")]),
    ("timeseries", "KV cache", "percentunit", 12, [(f"vllm:kv_cache_usage_perc{{{LLM}}}", "{{instance}}")]),
    ("timeseries", "Sequences put back for want of memory", "none", 12,
     [(f"sum(rate(vllm:num_preemptions_total{{{LLM}}}{RATE}))", "a second")]),
    ("timeseries", "How requests end", "none", 12,
     [(f"sum by (finished_reason) (rate(vllm:request_success_total{{{LLM}}}{RATE}))", "{{finished_reason}}")]),
    ("timeseries", "HTTP answers", "none", 12,
     [(f"sum by (status) (rate(http_requests_total{{{NODE}}}{RATE}))", "{{status}}")]),
    ("timeseries", "Length of prompts", "none", 12, quantiles("vllm:request_prompt_tokens")),
    ("timeseries", "Length of answers", "none", 12, quantiles("vllm:request_generation_tokens")),
]

DASHBOARDS = {
    "gpu-fleet": ("GPU fleet", FLEET, [("instance", "label_values(pagoda_gpu_up, instance)")]),
    "one-gpu": ("One GPU", ONE_GPU, [("instance", "label_values(pagoda_gpu_up, instance)"),
                                     ("gpu", 'label_values(pagoda_gpu_up{instance=~"$instance"}, gpu)')]),
    "llm-serving": ("LLM serving", SERVING, [("instance", "label_values(vllm:num_requests_running, instance)"),
                                             ("model", "label_values(vllm:num_requests_running, model_name)")]),
}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panel(number, row, x, y):
    kind, title, unit, width, queries = row
    targets = [{"refId": chr(65 + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend or "__auto",
                "instant": kind == "table", "format": "table" if kind == "table" else "time_series"}
               for i, (expression, legend) in enumerate(queries)]
    return {"id": number, "type": kind, "title": title, "datasource": SOURCE, "targets": targets,
            "gridPos": {"x": x, "y": y, "w": width, "h": 4 if kind == "stat" else 8},
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []}, "options": {}}


def variable(name, query):
    return {"name": name, "type": "query", "datasource": SOURCE, "query": {"query": query, "refId": name}, "refresh": 2,
            "includeAll": True, "multi": True, "allValue": ".*", "current": {"text": "All", "value": "$__all"}}


def dashboard(name, title, rows, variables):
    panels, x, y, height = [], 0, 0, 0
    for row in rows:
        if x + row[3] > 24:
            x, y = 0, y + height
        panels.append(panel(len(panels) + 1, row, x, y))
        x, height = x + row[3], panels[-1]["gridPos"]["h"]
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "current": {}}
    return {"uid": f"pagoda-{name}", "title": title, "tags": ["pagoda"], "schemaVersion": 39, "version": 1, "editable": True,
            "refresh": "15s", "time": {"from": "now-1h", "to": "now"}, "timezone": "browser",
            "templating": {"list": [source] + [variable(*v) for v in variables]}, "panels": panels}


def main():
    stale = []
    for name, (title, rows, variables) in DASHBOARDS.items():
        text = json.dumps(dashboard(name, title, rows, variables), indent=1) + "\n"
        path = FOLDER / f"{name}.json"
        if "--check" in sys.argv:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(path.name)
        else:
            path.write_text(text, encoding="utf-8")
    for file in stale:
        print(f"{file} is not what tools/grafana_dashboards.py makes: run it")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
