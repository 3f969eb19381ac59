"""Debian's prometheus as a process of a test, with the rules and the scrape configuration of deploy/prometheus made quick."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from exporter_process import free_port

DEPLOY = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy"
RULE_FILES = ("gpu.rules.yml", "llm.rules.yml")


def quick_rules(text):
    """Alerts fire after a second; data counts as stale after eight."""
    return re.sub(r"for: \w+", "for: 1s", text).replace("_timestamp_seconds > 120", "_timestamp_seconds > 8")


class Prometheus:
    """with Prometheus({"gpu": ["127.0.0.1:9400"]}) as prometheus: …; targets by job."""

    def __init__(self, targets):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.port = free_port()
        for name in RULE_FILES:
            (self.folder / name).write_text(quick_rules((DEPLOY / "prometheus" / name).read_text(encoding="utf-8")), encoding="utf-8")
        text = (DEPLOY / "prometheus/prometheus.yml").read_text(encoding="utf-8")
        text = text.replace("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s")
        for job, addresses in targets.items():
            text = re.sub(rf'(job_name: {job}\n.*\n\s+- targets: )\[.*\]', rf"\g<1>{json.dumps(addresses)}", text)
        (self.folder / "prometheus.yml").write_text(text, encoding="utf-8")
        self.process = None

    def __enter__(self):
        with open(self.folder / "log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdout=log, stderr=log)
        self.wait_for(lambda: self.query("vector(1)"), "prometheus is ready", 60)
        return self

    def __exit__(self, kind, error, trace):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if kind:
            print("--- prometheus' log, its last lines\n" + "\n".join((self.folder / "log").read_text().splitlines()[-8:]))
        shutil.rmtree(self.folder, ignore_errors=True)

    def query(self, expression):
        """[(labels, value)] that are numbers; None where it does not answer. A wrong expression raises."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                result = json.load(answer)["data"]
        except urllib.error.HTTPError as wrong:
            raise AssertionError(f"{expression}: {wrong.read().decode()}") from None
        except OSError:
            return None
        rows = [({}, result["result"][1])] if result["resultType"] == "scalar" else [(row["metric"], row["value"][1]) for row in result["result"]]
        return [(labels, float(value)) for labels, value in rows if value != "NaN"]

    def firing(self):
        """Names of alerts."""
        return {labels["alertname"] for labels, _ in self.query('ALERTS{alertstate="firing"}') or []}

    @staticmethod
    def wait_for(condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.25)
        raise AssertionError(f"not within {seconds} s: {what}")


def panel_queries():
    """(dashboard, panel, query) of every target, with Grafana's variables filled in."""
    for path in sorted((DEPLOY / "grafana/dashboards").glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                query = re.sub(r"\$(instance|gpu|model)\b", ".*", target["expr"]).replace("$__rate_interval", "1m")
                yield path.name, panel["title"], query


def rule_expressions(file):
    """(kind, name, expression) of a rule file: record or alert."""
    text = (DEPLOY / "prometheus" / file).read_text(encoding="utf-8")
    return re.findall(r"- (record|alert): (\S+)\n\s+expr: (.*)", text)


def without_threshold(expression):
    """Has a value for every series that it looks at, whether or not the threshold is passed."""
    return re.sub(r" (==|>|<) (?!bool)", r" \1 bool ", expression)
