"""`pagoda ctk cdi`: specs generated, listed, validated, moved, kept right.

usage: specs_test.py PAGODA
"""
import json
import os
import pathlib
import shutil
import subprocess

from toolkit_case import PAGODA, ToolkitCase, main, host_tree


class Specs(ToolkitCase):
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
    main()
