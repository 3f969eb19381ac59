"""`pagoda ctk install` and `uninstall` beside NVIDIA's files, and the links of NVIDIA's names.

usage: toolkit_install_test.py PAGODA
"""
import json
import os
import shutil
import subprocess

from toolkit_case import PAGODA, ToolkitCase, main


class ToolkitInstall(ToolkitCase):
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

    def dpkg(self, root, *words):
        return subprocess.run(["dpkg", "--root", str(root), "--force-not-root", "--log", "/dev/null", *map(str, words)], capture_output=True, text=True)

    def nvidias_package(self, version):
        place = self.folder / f"package-{version}"
        (place / "DEBIAN").mkdir(parents=True)
        (place / "DEBIAN/control").write_text(f"Package: nvidia-container-toolkit-base\nVersion: {version}\nArchitecture: all\n"
                                              "Maintainer: Nobody <nobody@example.com>\nDescription: a stub\n")
        (place / "usr/bin").mkdir(parents=True)
        (place / "usr/bin/nvidia-ctk").write_text(f"NVIDIA's own {version}\n")
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", str(place), str(place) + ".deb"], check=True, capture_output=True)
        return str(place) + ".deb"

    def test_install_beside_nvidias_package(self):
        """Forced over a package's file it is a diversion: an upgrade of the package writes beside the link, and uninstall gives all back."""
        if shutil.which("dpkg-deb") is None or os.geteuid() != 0:
            self.skipTest("dpkg-deb is not installed, or not root")
        root = self.machine()
        for folder in ("info", "updates", "triggers"):
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        for name in ("status", "available", "diversions"):
            (root / "var/lib/dpkg" / name).touch()
        done = self.dpkg(root, "-i", self.nvidias_package("1.17"))
        self.assertEqual(done.returncode, 0, done.stderr)
        words = ("--root", root, "--toolkit-dir", "/usr/bin")
        self.assertIn("of package nvidia-container-toolkit-base; nothing was changed", self.ctk("install", *words, code=2).stderr)
        self.ctk("install", *words, "--force")
        link = root / "usr/bin/nvidia-ctk"
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.dpkg(root, "-i", self.nvidias_package("1.18")).returncode, 0)
        self.assertTrue(link.is_symlink(), "the upgrade wrote over the link")
        self.assertIn("put", self.ctk("uninstall", *words).stdout)
        self.assertEqual(link.read_text(), "NVIDIA's own 1.18\n")
        self.assertEqual((root / "var/lib/dpkg/diversions").read_text(), "")

    def test_nvidia_cdi_hook_is_the_static_one(self):
        link = self.folder / "nvidia-cdi-hook"
        link.symlink_to(os.path.abspath(PAGODA))
        self.assertIn("no action 'frobnicate'", self.ctk("frobnicate", program=link, code=1, input="{}").stderr)


if __name__ == "__main__":
    main()
