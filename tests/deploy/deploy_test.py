"""The files of deploy/, each by the tool that reads it.

usage: deploy_test.py PAGODA
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

DEPLOY = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy"
PAGODA = ""


def run(*words, **rest):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **rest)


class Deploy(unittest.TestCase):
    def needs(self, program):
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")

    def test_systemd_units_are_hardened(self):
        self.needs("systemd-analyze")
        for unit in sorted(DEPLOY.glob("systemd/*.service")):
            done = run("systemd-analyze", "security", "--offline=true", "--threshold=30", unit)
            self.assertEqual(done.returncode, 0, f"{unit.name} is above 3.0:\n{done.stdout[-400:]}")

    def test_systemd_units_are_right(self):
        self.needs("systemd-analyze")
        for unit in sorted(DEPLOY.glob("systemd/*.service")):
            with tempfile.TemporaryDirectory() as folder:
                # The program is looked for where the unit says; here it is where it was built.
                copy = pathlib.Path(folder) / unit.name
                copy.write_text(unit.read_text().replace("/usr/bin/pagoda", os.path.abspath(PAGODA)))
                done = run("systemd-analyze", "verify", "--man=no", copy)
                self.assertEqual((done.returncode, done.stderr), (0, ""), unit.name)

    def test_commands_of_the_units_are_known(self):
        for unit in DEPLOY.glob("systemd/*.service"):
            for command in re.findall(r"^ExecStart=/usr/bin/(pagoda .*)$", unit.read_text(), re.MULTILINE):
                word = command.split()[1]
                done = run(PAGODA, "help", word)
                self.assertNotIn("no subcommand", done.stderr, f"{unit.name}: {command}")

    def test_haproxy(self):
        self.needs("haproxy")
        done = run("haproxy", "-c", "-f", DEPLOY / "haproxy/haproxy.cfg")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_compose(self):
        self.needs("docker-compose")
        done = run("docker-compose", "-f", DEPLOY / "docker/docker-compose.yml", "config")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("driver: nvidia", "count: all", "- gpu", "pagoda-exporter", "prom/prometheus", "grafana/grafana"):
            self.assertIn(words, done.stdout)

    def test_prometheus(self):
        self.needs("promtool")
        done = run("promtool", "check", "config", DEPLOY / "prometheus/prometheus.yml")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_kubernetes(self):
        self.needs("kubectl")
        done = run("kubectl", "kustomize", DEPLOY / "kubernetes")
        self.assertEqual(done.returncode, 0, done.stderr)
        kinds = re.findall(r"^kind: (\w+)$", done.stdout, re.MULTILINE)
        self.assertEqual(sorted(kinds), ["DaemonSet", "DaemonSet", "Deployment", "Namespace", "PersistentVolumeClaim", "Service"])
        try:
            import kubernetes_validate
            import yaml
        except ImportError:
            self.skipTest("the Python package kubernetes-validate is not installed: the manifests were built, not checked by schema")
        for document in yaml.safe_load_all(done.stdout):
            kubernetes_validate.validate(document, "1.30", strict=True)

    def test_slurm_script(self):
        script = DEPLOY / "slurm/serve.sbatch"
        self.assertEqual(run("bash", "-n", script).returncode, 0)
        with tempfile.TemporaryDirectory() as folder:
            srun = pathlib.Path(folder) / "srun"
            srun.write_text('#!/bin/sh\necho "$@"\n')
            srun.chmod(0o755)
            environment = {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "4711", "MODEL": "/m.gguf"}
            done = run("bash", script, env=environment)
            self.assertIn("--ntasks=1 pagoda serve /m.gguf --host 0.0.0.0 --port 8711", done.stdout)
            del environment["MODEL"]
            self.assertIn("set MODEL", run("bash", script, env=environment).stderr)

    def test_the_build_stage_builds_all_that_is_installed(self):
        cmake = "".join(path.read_text() for path in sorted((DEPLOY.parent / "cmake").glob("*.cmake")))
        built = re.search(r"ninja -C build/image ([\w -]+)", (DEPLOY / "docker/Dockerfile").read_text()).group(1).split()
        self.assertEqual(sorted(built), sorted(re.findall(r"install\(TARGETS ([\w-]+)", cmake)))

    def test_entry_point(self):
        """A tool's name runs the tool; anything else are the server's flags."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("pagoda", "tritonserver", "vllm"):
                program = pathlib.Path(folder) / name
                program.write_text(f'#!/bin/sh\necho {name} "$@"\n')
                program.chmod(0o755)
            script = (DEPLOY / "docker/entrypoint.sh").read_text().replace("/usr/local/bin/pagoda", f"{folder}/pagoda")
            entry = pathlib.Path(folder) / "entry"
            entry.write_text(script)
            for words, expected in ((["--model", "/models/x", "--max-model-len", "8192"], "pagoda serve --model /models/x --max-model-len 8192"),
                                    (["tritonserver", "--http-port=8000"], "tritonserver --http-port=8000"), (["vllm", "serve", "x"], "vllm serve x"),
                                    (["chat"], "pagoda chat"), (["device-plugin"], "pagoda device-plugin"), (["pagoda", "--version"], "pagoda --version"), ([], "pagoda serve")):
                done = run("sh", entry, *words, env={"PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual(done.stdout.strip(), expected)


if __name__ == "__main__":
    PAGODA = sys.argv[1]
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
