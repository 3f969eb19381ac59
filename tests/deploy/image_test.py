"""deploy/docker/Dockerfile built by buildah from the programs that were built, on a Debian base made by debootstrap, and run by podman.

usage: image_test.py PAGODA PAGODA_CONTAINER_HOOK CACHE_FOLDER [PAGODA_GRPC]
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "host"))
import install_test  # noqa: E402

DEPLOY = HERE.parent.parent / "deploy"
PROGRAMS = []


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        context = cls.folder / "context"
        shutil.copytree(DEPLOY, context / "deploy")
        (context / "dist/image/bin").mkdir(parents=True)
        for program in PROGRAMS:
            subprocess.run(["strip", "-o", str(context / "dist/image/bin" / pathlib.Path(program).name), program], check=True)
        root = install_test.debian_root()
        container = cls.buildah("from", "scratch").strip()
        cls.buildah("add", container, str(root), "/")
        cls.buildah("commit", container, "localhost/base")
        for tag, target in (("pagoda", []), ("pagoda-exporter", ["--target", "exporter"]), ("pagoda-cuda", ["--target", "cuda"])):
            cls.buildah("bud", "--isolation", "chroot", "-f", str(context / "deploy/docker/Dockerfile"), "--build-arg", "BASE=localhost/base",
                        "--build-arg", "SOURCE=prebuilt", *target, "-t", f"localhost/{tag}", str(context))

    @classmethod
    def storage(cls):
        return ["--root", str(cls.folder / "storage"), "--runroot", str(cls.folder / "run"), "--storage-driver", "vfs"]

    @classmethod
    def buildah(cls, *words):
        done = subprocess.run(["buildah", *cls.storage(), *words], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-1000:]
        return done.stdout

    def inspect(self, tag):
        return json.loads(self.buildah("inspect", "--type", "image", f"localhost/{tag}"))

    def run_image(self, *words):
        return subprocess.run(["podman", *self.storage(), "--cgroup-manager", "cgroupfs", "--runtime", "runc", "run", "--rm", "--network", "none",
                               "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096", *words], capture_output=True, text=True, timeout=120)

    def test_it_serves_by_default_and_as_a_tool_by_name(self):
        done = self.run_image("localhost/pagoda", "--no-such-flag")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("pagoda serve: unknown flag --no-such-flag", done.stderr)
        done = self.run_image("localhost/pagoda", "pagoda", "--version")
        self.assertRegex(done.stdout, r"^pagoda \d", done.stderr)
        done = self.run_image("localhost/pagoda", "--model", "/models/absent.gguf")
        self.assertIn("/models/absent.gguf", done.stderr)

    def test_the_device_plugin_is_in_it(self):
        if len(PROGRAMS) < 3:
            self.skipTest("pagoda-grpc was not built: libgrpc++-dev is not installed")
        done = self.run_image("localhost/pagoda", "device-plugin")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pagoda-grpc: cannot load NVIDIA's management library", done.stderr)

    def test_what_it_is(self):
        config = self.inspect("pagoda")["OCIv1"]["config"]
        self.assertEqual(config["User"], "pagoda")
        self.assertIn("PAGODA_IN_CONTAINER=1", config["Env"])
        self.assertIn("NVIDIA_DRIVER_CAPABILITIES=compute,utility", self.inspect("pagoda-cuda")["OCIv1"]["config"]["Env"])
        self.assertEqual(self.inspect("pagoda-exporter")["OCIv1"]["config"]["Entrypoint"], ["/usr/local/bin/pagoda", "exporter"])

    def test_what_we_add_is_small(self):
        """debian:12-slim has 75 MB: with what is added here the image stays under 150."""
        added = sum(os.path.getsize(path) for path in (self.folder / "context/dist/image/bin").iterdir())
        self.assertLess(added, 75e6)


def why_not():
    for program in ("buildah", "podman", "runc", "strip"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return install_test.why_not()


if __name__ == "__main__":
    PROGRAMS, install_test.CACHE = sys.argv[1:3] + sys.argv[4:], pathlib.Path(sys.argv[3])
    reason = why_not()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    install_test.CACHE.mkdir(parents=True, exist_ok=True)
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
