"""`pagoda ctk runtime configure` on the engines' files, and the toolkit's own config.toml.

usage: engines_test.py PAGODA
"""
import json
import os
import stat
import subprocess
import threading

from toolkit_case import PAGODA, ToolkitCase, main

RUNTIME = "/usr/bin/nvidia-container-runtime"

CONTAINERD_V2 = """# the cluster's own file
version = 2

[plugins]
  # pause image of the registry
  [plugins."io.containerd.grpc.v1.cri"]
    sandbox_image = "registry.local/pause:3.9"  # pinned
    [plugins."io.containerd.grpc.v1.cri".containerd]
      default_runtime_name = "runc"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes]
        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          runtime_type = "io.containerd.runc.v2"
          base_runtime_spec = "/etc/containerd/base.json"
          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            SystemdCgroup = true

# metrics
[metrics]
  address = "127.0.0.1:1338"
"""


class Engines(ToolkitCase):
    def configure(self, engine, path, *words, **rest):
        return self.ctk("runtime", "configure", "--runtime", engine, "--config", path, *words, **rest)

    def assert_second_run_changes_nothing(self, engine, path, *words):
        before = (path.read_bytes(), path.stat().st_mtime_ns)
        self.assertIn("unchanged:", self.configure(engine, path, *words).stderr)
        self.assertEqual((path.read_bytes(), path.stat().st_mtime_ns), before)

    def test_docker(self):
        path = self.folder / "daemon.json"
        path.write_text('{\n    "log-driver": "json-file",\n    "runtimes": {"kata": {"path": "/k"}},\n    "data-root": "/d"\n}\n')
        path.chmod(0o640)
        self.configure("docker", path, "--nvidia-set-as-default", "--cdi.enabled")
        self.assertEqual(json.loads(path.read_text()), {
            "log-driver": "json-file", "runtimes": {"kata": {"path": "/k"}, "nvidia": {"path": RUNTIME, "args": []}},
            "data-root": "/d", "default-runtime": "nvidia", "features": {"cdi": True}})
        self.assertEqual(list(json.loads(path.read_text()))[:3], ["log-driver", "runtimes", "data-root"])
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        self.assertIn('"data-root": "/d"', (self.folder / "daemon.json.pagoda-backup").read_text())
        self.assert_second_run_changes_nothing("docker", path, "--nvidia-set-as-default", "--cdi.enabled")
        self.configure("docker", path, "--remove")
        self.assertEqual(json.loads(path.read_text()), {"log-driver": "json-file", "runtimes": {"kata": {"path": "/k"}}, "data-root": "/d",
                                                        "features": {"cdi": True}})

    def test_containerd_v2_keeps_comments_and_copies_runcs_options(self):
        path = self.folder / "config.toml"
        path.write_text(CONTAINERD_V2)
        self.configure("containerd", path, "--nvidia-set-as-default", "--cdi.enabled")
        self.assertEqual(path.read_text(), CONTAINERD_V2
                         .replace('default_runtime_name = "runc"', 'default_runtime_name = "nvidia"')
                         .replace('  # pinned\n', '  # pinned\n    enable_cdi = true\n') + """
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
base_runtime_spec = '/etc/containerd/base.json'
privileged_without_host_devices = false

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
SystemdCgroup = true
BinaryName = "/usr/bin/nvidia-container-runtime"
""")
        self.assert_second_run_changes_nothing("containerd", path, "--nvidia-set-as-default", "--cdi.enabled")
        self.configure("containerd", path, "--remove")
        self.assertEqual(path.read_text(), CONTAINERD_V2.replace('      default_runtime_name = "runc"\n', "")
                         .replace('  # pinned\n', '  # pinned\n    enable_cdi = true\n'))

    def test_containerd_v3(self):
        path = self.folder / "config.toml"
        path.write_text("version = 3\n")
        self.configure("containerd", path)
        self.assertIn('[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia]', path.read_text())
        self.assert_second_run_changes_nothing("containerd", path)

    def test_containerd_drop_in(self):
        path, drop_in = self.folder / "config.toml", self.folder / "conf.d/99-nvidia.toml"
        path.write_text(CONTAINERD_V2)
        self.configure("containerd", path, "--drop-in-config", drop_in)
        self.assertEqual(path.read_text(), CONTAINERD_V2.replace("version = 2\n", f'version = 2\nimports = ["{self.folder}/conf.d/*.toml"]\n'))
        self.assertIn("SystemdCgroup = true", drop_in.read_text())
        self.assertNotIn("sandbox_image", drop_in.read_text())
        before = drop_in.read_bytes(), path.read_bytes()
        self.configure("containerd", path, "--drop-in-config", drop_in)
        self.assertEqual((drop_in.read_bytes(), path.read_bytes()), before)

    def test_containerd_without_a_file(self):
        path = self.folder / "etc/containerd/config.toml"
        self.configure("containerd", path)
        self.assertTrue(path.read_text().startswith("version = 2\n"))

    def test_crio_and_podman(self):
        crio = self.folder / "99-nvidia.toml"
        self.configure("crio", crio, "--nvidia-set-as-default")
        self.assertEqual(crio.read_text(), f'[crio.runtime]\ndefault_runtime = "nvidia"\n\n[crio.runtime.runtimes.nvidia]\n'
                                           f'runtime_path = "{RUNTIME}"\nruntime_type = "oci"\n')
        self.assert_second_run_changes_nothing("crio", crio, "--nvidia-set-as-default")
        podman = self.folder / "99-nvidia.conf"
        podman.write_text("# ours\n[engine]\n# fast\nnum_locks = 4096\n")
        self.configure("podman", podman)
        self.assertEqual(podman.read_text(), f'# ours\n[engine]\n# fast\nnum_locks = 4096\n\n[engine.runtimes]\nnvidia = ["{RUNTIME}"]\n')
        self.assert_second_run_changes_nothing("podman", podman)

    def test_dry_run_writes_nothing(self):
        path = self.folder / "daemon.json"
        self.assertIn('"nvidia"', self.configure("docker", path, "--dry-run").stdout)
        self.assertFalse(path.exists())

    def test_broken_files_are_left_alone(self):
        for engine, text, place in (("docker", '{\n  "a": 1,,\n}\n', "line 2, column 10"), ("containerd", "version = 2\n[plugins\n", "line 2"),
                                    ("crio", "a = \n", "line 1"), ("docker", "[1]", "is no JSON object"),
                                    ("docker", '{"runtimes": 5}', '"runtimes" is no object'),
                                    ("containerd", 'version = 2\nplugins = {"io.containerd.grpc.v1.cri" = {containerd = {runtimes = {}}}}\n',
                                     "cannot be changed without rewriting")):
            path = self.folder / "file"
            path.write_text(text)
            done = subprocess.run([PAGODA, "ctk", "runtime", "configure", "--runtime", engine, "--config", str(path)], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0, text)
            self.assertIn(place, done.stderr)
            self.assertIn("the file is left as it is", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertEqual(path.read_text(), text)
            self.assertEqual({p.name for p in self.folder.iterdir()} - {"file.lock"}, {"file"})

    def test_read_only_file_system(self):
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        place = self.folder / "ro"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(place)], check=True)
        self.addCleanup(subprocess.run, ["umount", str(place)], check=True)
        done = self.configure("docker", place / "daemon.json", code=1)
        self.assertIn("Read-only file system", done.stderr)

    def test_many_at_once(self):
        path = self.folder / "config.toml"
        path.write_text(CONTAINERD_V2)
        outcomes = []
        run = lambda n: outcomes.append(self.configure("containerd", path, "--nvidia-runtime-name", f"gpu{n}").returncode)
        threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(outcomes, [0] * 8)
        for n in range(8):
            self.assertEqual(path.read_text().count(f".runtimes.gpu{n}]"), 1)

    def test_config(self):
        path = self.folder / "config.toml"
        shown = self.ctk("config", "default").stdout
        self.assertIn('mode = "auto"', shown)
        self.ctk("config", "--config-file", path, "--set", "nvidia-container-runtime.mode=cdi", "--set",
                 "nvidia-container-runtime.runtimes=crun,runc", "--in-place")
        self.assertEqual(path.read_text(), shown.replace('mode = "auto"', 'mode = "cdi"').replace('["runc", "crun"]', '["crun", "runc"]'))
        for setting, words in (("nvidia-container-runtime.mode=legacy", "runs code with the container's own files"),
                               ("disable-require=maybe", "is true or false"), ("no.such=1", "there are: ")):
            done = subprocess.run([PAGODA, "ctk", "config", "--config-file", str(path), "--set", setting], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
