"""deploy/prometheus and deploy/grafana as files: the rules by promtool (alerts_test.yml), each runbook link leads to a
heading that exists, the dashboards are what tools/grafana_dashboards.py makes."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = {"GPU_RULES": ROOT / "deploy/prometheus/gpu.rules.yml", "LLM_RULES": ROOT / "deploy/prometheus/llm.rules.yml"}
HERE = pathlib.Path(__file__).parent


def anchor(heading):
    """As code hosts make it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Rules(unittest.TestCase):
    def test_promtool(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed (Debian package prometheus)")
        text = (HERE / "alerts_test.yml").read_text(encoding="utf-8")
        for word, path in RULES.items():
            text = text.replace(word, str(path))
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(text)
            file.flush()
            done = subprocess.run(["promtool", "test", "rules", file.name], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_runbooks_exist(self):
        links = set()
        for path in RULES.values():
            text = path.read_text(encoding="utf-8")
            links |= set(re.findall(r"runbook_url: (\S+)", text))
            self.assertEqual(text.count("- alert:"), text.count("runbook_url:"), path)
        for link in links:
            file, _, fragment = link.partition("#")
            page = (ROOT / file).read_text(encoding="utf-8")
            headings = {anchor(line.lstrip("# ")) for line in page.splitlines() if line.startswith("#")}
            self.assertIn(fragment, headings | {""}, link)


class Dashboards(unittest.TestCase):
    def test_they_are_made_from_the_tables(self):
        done = subprocess.run([sys.executable, ROOT / "tools/grafana_dashboards.py", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_panels_do_not_overlap_and_each_asks_for_something(self):
        for path in (ROOT / "deploy/grafana/dashboards").glob("*.json"):
            taken = set()
            for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
                place = panel["gridPos"]
                cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
                self.assertFalse(cells & taken, f"{path.name}: {panel['title']}")
                self.assertLessEqual(place["x"] + place["w"], 24)
                self.assertTrue(panel["targets"], panel["title"])
                taken |= cells


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
