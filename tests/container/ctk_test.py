"""`pagoda ctk` on files: engines' configurations, specs, the toolkit's config, install and uninstall.

usage: ctk_test.py PAGODA
"""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "host"))
import host_tree  # noqa: E402

PAGODA = ""
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


class Toolkit(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ctk(self, *words, code=0, program=None, **rest):
        command = [program] if program else [PAGODA, "ctk"]
        done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True, timeout=60, **rest)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        return done

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

    def machine(self, tree="h100"):
        if os.geteuid() != 0:
            self.skipTest("device nodes are made by root only")
        root = self.folder / "machine"
        root.mkdir()
        host_tree.build(tree, root)
        return root

    def test_specs(self):
        root = self.machine()
        spec = self.folder / "specs/nvidia.yaml"
        self.ctk("cdi", "generate", "--driver-root", root, "--output", spec)
        first = spec.read_bytes()
        self.assertIn("unchanged:", self.ctk("cdi", "refresh", "--driver-root", root, "--output", spec).stderr)
        self.assertEqual(spec.read_bytes(), first)
        self.assertIn("5 devices, version 0.5.0", self.ctk("cdi", "validate", spec).stdout)
        done = self.ctk("cdi", "list", "--spec-dir", spec.parent)
        self.assertEqual(done.stdout.split()[:2], ["nvidia.com/gpu=0", "nvidia.com/gpu=1"])
        self.assertIn("Found 5 CDI devices", done.stderr)
        moved = self.ctk("cdi", "transform", "root", "--from", root, "--to", "/", "--input", spec).stdout
        self.assertNotIn(str(root), moved)
        back = subprocess.run([PAGODA, "ctk", "cdi", "transform", "root", "--from", "/usr", "--to", "/run/driver/usr"], input=moved,
                              capture_output=True, text=True)
        self.assertIn("hostPath: /run/driver/usr/bin/nvidia-smi", back.stdout)
        self.assertIn("containerPath: /usr/bin/nvidia-smi", back.stdout)

    def test_stale_and_broken_specs(self):
        root = self.machine()
        spec = self.folder / "specs/nvidia.yaml"
        self.ctk("cdi", "generate", "--driver-root", root, "--output", spec)
        (root / "usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05").unlink()
        self.assertIn("is stale", self.ctk("cdi", "validate", spec, code=1).stderr)
        for text, words in (("kind: [", "line 1"), ("cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n", "no devices"),
                            ("cdiVersion: 0.5.0\nkind: x\ndevices: []\n", "vendor.com/class"),
                            ("cdiVersion: 0.5.0\nkind: a.b/c\ndevices:\n- name: '0'\n  containerEdits:\n    env: [A]\n", "devices[0].containerEdits: env 'A'"),
                            ("cdiVersion: 0.5.0\nkind: a.b/c\nx: 1\ndevices: []\n", "unknown field 'x'"),
                            ("[" * 100000, "nested more than")):
            spec.write_text(text)
            done = self.ctk("cdi", "validate", spec, code=1)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_what_nvidias_generator_is_tested_for(self):
        """The facts of nvidia-container-toolkit's own cases: one GPU, driver 999.88.77, libraries in /lib and a folder below it."""
        root = self.folder / "machine"
        libraries = root / "lib/x86_64-linux-gnu"
        (libraries / "vdpau").mkdir(parents=True)
        for name in ("libcuda.so", "vdpau/libvdpau_nvidia.so"):
            (libraries / f"{name}.999.88.77").write_bytes(b"\x7fELF")
            (libraries / f"{name}.1").symlink_to(pathlib.Path(f"{name}.999.88.77").name)
        gpu = root / "proc/driver/nvidia/gpus/0000:01:00.0/information"
        gpu.parent.mkdir(parents=True)
        gpu.write_text("Model: \t A100\nDevice Minor: \t 0\n")
        (root / "proc/driver/nvidia/version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  999.88.77  x\n")
        (root / "dev").mkdir()
        os.mknod(root / "dev/nvidia0", 0o020666, os.makedev(195, 0))
        os.mknod(root / "dev/nvidiactl", 0o020666, os.makedev(195, 255))
        done = self.ctk("cdi", "generate", "--driver-root", root, "--vendor", "example.com", "--class", "device", "--device-name-strategy", "index",
                        "--hook-path", "/usr/bin/nvidia-cdi-hook", "--format", "json")
        spec = json.loads(done.stdout)
        self.assertEqual((spec["cdiVersion"], spec["kind"]), ("0.5.0", "example.com/device"))
        node = {"deviceNodes": [{"path": "/dev/nvidia0", "hostPath": f"{root}/dev/nvidia0"}]}
        self.assertEqual(spec["devices"], [{"name": "0", "containerEdits": node}, {"name": "all", "containerEdits": node}])
        edits = spec["containerEdits"]
        self.assertEqual(edits["env"], ["NVIDIA_VISIBLE_DEVICES=void"])
        self.assertEqual(edits["deviceNodes"], [{"path": "/dev/nvidiactl", "hostPath": f"{root}/dev/nvidiactl"}])
        self.assertEqual(edits["mounts"], [{"hostPath": f"{root}/lib/x86_64-linux-gnu/{name}", "containerPath": f"/lib/x86_64-linux-gnu/{name}",
                                            "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"]}
                                           for name in ("libcuda.so.999.88.77", "vdpau/libvdpau_nvidia.so.999.88.77")])
        links, cache = edits["hooks"]
        self.assertEqual(links["args"], ["nvidia-cdi-hook", "create-symlinks", "--link", "libcuda.so.1::/lib/x86_64-linux-gnu/libcuda.so"])
        self.assertEqual(cache["args"][:2], ["nvidia-cdi-hook", "update-ldcache"])
        self.assertEqual(cache["args"][-4:], ["--folder", "/lib/x86_64-linux-gnu", "--folder", "/lib/x86_64-linux-gnu/vdpau"])

    def test_strategies_and_choice(self):
        root = self.machine()
        text = lambda *words: json.loads(self.ctk("cdi", "generate", "--driver-root", root, "--format", "json", *words).stdout)
        names = lambda *words: [d["name"] for d in text(*words)["devices"]]
        self.assertEqual(names("--device-name-strategy", "type-index"), ["all", "gpu0", "gpu1"])
        self.assertEqual(names("--device-name-strategy", "index", "--no-all-device", "--device-id", "1"), ["1"])
        self.assertEqual(text("--vendor", "example.com", "--class", "card")["kind"], "example.com/card")
        self.assertNotIn("hooks", text("--disable-hook", "all")["containerEdits"])
        self.assertIn("no device '5'; there are: 0, 1", self.ctk("cdi", "generate", "--driver-root", root, "--device-id", "5", code=1).stderr)

    def test_mig(self):
        root = self.machine("h100-mig")
        spec = json.loads(self.ctk("cdi", "generate", "--driver-root", root, "--format", "json", "--device-name-strategy", "index").stdout)
        nodes = {d["name"]: [n["path"] for n in d["containerEdits"]["deviceNodes"]] for d in spec["devices"]}
        self.assertEqual(nodes["0:0"], ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"])
        self.assertEqual(nodes["0:1"], ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"])
        self.assertEqual(sorted(nodes), ["0:0", "0:1", "1", "all"])

    def test_mig_by_nvml(self):
        """UUIDs and the order are NVML's; the nodes are told by the kernel module's files, here by its list of all."""
        root = self.machine("driver-580")
        listed = root / "proc/driver/nvidia-caps/mig-minors"
        listed.parent.mkdir(parents=True)
        listed.write_text("config 1\nmonitor 2\n" + "".join(
            f"gpu0/gi{gi}/access {10 * gi}\ngpu0/gi{gi}/ci0/access {10 * gi + 1}\n" for gi in (2, 3, 9, 10)))
        generate = [PAGODA, "--simulate", "h100-mig", "ctk", "cdi", "generate", "--mode", "nvml", "--driver-root", str(root), "--format", "json"]
        done = subprocess.run(generate, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        nodes = {d["name"]: [n["path"] for n in d["containerEdits"]["deviceNodes"]] for d in json.loads(done.stdout)["devices"]}
        uuid = "MIG-b1000009-0001-5000-8000-000000000000"
        self.assertEqual(nodes["0:2"], ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap90", "/dev/nvidia-caps/nvidia-cap91"])
        self.assertEqual(nodes[uuid], nodes["0:2"])
        self.assertEqual(sorted(name for name in nodes if not name.startswith("MIG-")), ["0:0", "0:1", "0:2", "0:3", "all"])
        self.assertEqual(len(nodes), 9)
        listed.write_text("")
        done = subprocess.run(generate, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("MIG device 0:0: its nodes in /dev/nvidia-caps are not known", done.stderr)

    def test_gpus_by_nvml(self):
        root = self.machine("driver-580")
        generate = lambda scenario: subprocess.run([PAGODA, "--simulate", scenario, "ctk", "cdi", "generate", "--driver-root", str(root), "--format",
                                                    "json"], capture_output=True, text=True, timeout=60)
        names = [d["name"] for d in json.loads(generate("h100x2").stdout)["devices"]]
        self.assertEqual([name[:4] for name in names], ["0", "1", "GPU-", "GPU-", "all"])
        self.assertIn("no GPU that a loaded NVIDIA driver holds", generate("no-gpus").stderr)
        self.assertIn("driver", generate("driver-not-loaded").stderr)
        done = self.ctk("cdi", "generate", "--mode", "nvml", "--driver-root", root, code=1)
        self.assertIn("management library", done.stderr)

    def test_no_driver(self):
        root = self.folder / "machine"
        root.mkdir()
        host_tree.build("no-gpu", root)
        self.assertIn("no GPU that a loaded NVIDIA driver holds", self.ctk("cdi", "generate", "--driver-root", root, code=1).stderr)
        link = self.folder / "nvidia-container-cli"
        link.symlink_to(os.path.abspath(PAGODA))
        self.assertIn("driver not loaded", self.ctk("--root", root, "info", program=link, code=1).stderr)
        self.assertIn("configure enters", self.ctk("configure", "x", program=link, code=2).stderr)

    def test_container_cli(self):
        root = self.machine()
        link = self.folder / "nvidia-container-cli"
        link.symlink_to(os.path.abspath(PAGODA))
        info = self.ctk("info", "--root", root, program=link).stdout
        self.assertIn("NVRM version:   580.95.05\nCUDA version:   13.0\n\nDevice Index:   0\nDevice Minor:   0\n", info)
        self.assertIn("Bus Location:   00000000:65:00.0\nArchitecture:   9.0\n", info)
        self.assertIn("/dev/nvidia0\n", self.ctk("list", "--root", root, program=link).stdout)

    def test_dev_char_links(self):
        root = self.machine()
        folder = self.folder / "char"
        self.ctk("system", "create-dev-char-symlinks", "--create-all", "--driver-root", root, "--dev-char-path", folder)
        self.assertEqual(os.readlink(folder / "195:1"), "../nvidia1")
        self.assertEqual(os.readlink(folder / "195:255"), "../nvidiactl")

    def test_install_beside_nvidias_own_files(self):
        root = self.machine()
        for program in ("usr/bin/dockerd", "usr/bin/containerd"):
            (root / program).write_text("")
            (root / program).chmod(0o755)
        theirs = root / "usr/bin/nvidia-ctk"
        theirs.write_text("NVIDIA's own\n")
        done = self.ctk("install", "--root", root, "--toolkit-dir", "/usr/bin", code=2)
        self.assertIn("is there", done.stderr)
        self.assertFalse((root / "usr/bin/nvidia-cdi-hook").exists())
        dry = self.ctk("install", "--root", root, "--dry-run").stdout
        self.assertIn("would link", dry)
        self.assertFalse((root / "etc/docker").exists())
        self.ctk("install", "--root", root, "--toolkit-dir", "/usr/bin", "--force")
        self.assertTrue(theirs.is_symlink())
        self.assertEqual(json.loads((root / "etc/docker/daemon.json").read_text())["default-runtime"], "nvidia")
        self.assertIn("nvidia.com/gpu", (root / "var/run/cdi/nvidia.yaml").read_text())
        again = self.ctk("install", "--root", root, "--toolkit-dir", "/usr/bin", "--force").stdout
        self.assertNotIn("link ", again)
        self.ctk("uninstall", "--root", root, "--toolkit-dir", "/usr/bin")
        self.assertEqual(theirs.read_text(), "NVIDIA's own\n")
        self.assertFalse((root / "usr/bin/nvidia-container-cli").exists())
        self.assertNotIn("nvidia", (root / "etc/docker/daemon.json").read_text())
        self.assertNotIn("nvidia", (root / "etc/containerd/config.toml").read_text())
        self.assertFalse((root / "var/run/cdi/nvidia.yaml").exists())

    def test_refresh_watches(self):
        root = self.machine()
        spec = self.folder / "nvidia.yaml"
        watcher = subprocess.Popen([PAGODA, "ctk", "cdi", "refresh", "--watch", "--interval", "1", "--driver-root", str(root), "--output", str(spec)],
                                   stderr=subprocess.PIPE, text=True)
        try:
            self.assertIn("wrote", watcher.stderr.readline())
            old = root / "usr/lib/x86_64-linux-gnu"
            shutil.copy(old / "libcuda.so.580.95.05", old / "libcuda.so.590.48.01")
            (old / "libcuda.so.1").unlink()
            (old / "libcuda.so.1").symlink_to("libcuda.so.590.48.01")
            self.assertIn("wrote", watcher.stderr.readline())
            self.assertIn("590.48.01", spec.read_text())
        finally:
            watcher.terminate()
            self.assertEqual(watcher.wait(10), 0)
            watcher.stderr.close()


if __name__ == "__main__":
    PAGODA = os.path.abspath(sys.argv[1])
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
