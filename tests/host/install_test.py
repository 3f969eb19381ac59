"""`pagoda driver install` really run: in a Debian root made by debootstrap, with stub packages, killed at every step.

usage: install_test.py PAGODA CACHE_FOLDER
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import host_tree

PAGODA = ""
CACHE = pathlib.Path()
STUBS = ("nvidia-kernel-dkms", "libcuda1", "nvidia-driver")  # in the order in which dpkg configures them
VERSION = "580.95.05-1"


def archive_of_this_machine():
    """The address that this machine's own apt uses for Debian, so that none is written here."""
    done = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        address, _, release = line.partition(" ")
        if release in ("bookworm", "oldstable", "stable") and "security" not in address:
            return address
    return None


def why_not():
    if os.geteuid() != 0:
        return "chroot needs root"
    for program in ("debootstrap", "dpkg-deb", "apt-get"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return None if archive_of_this_machine() else "this machine's apt has no archive of Debian 12"


def debian_root():
    """Made once, then copied."""
    place = CACHE / "bookworm-minbase"
    if place.exists():
        return place
    fresh = pathlib.Path(tempfile.mkdtemp(dir=CACHE))
    done = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(fresh / "root"), archive_of_this_machine()], capture_output=True, text=True)
    if done.returncode != 0:
        shutil.rmtree(fresh)
        raise unittest.SkipTest("debootstrap failed: " + done.stdout.strip().splitlines()[-1])
    (fresh / "root").rename(place)
    fresh.rmdir()
    return place


def stub_package(folder, name, depends):
    place = folder / name
    (place / "DEBIAN").mkdir(parents=True)
    (place / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: {VERSION}\nArchitecture: amd64\nMaintainer: Nobody <nobody@example.com>\n"
        f"{'Depends: ' + depends if depends else ''}".rstrip() + "\nDescription: a stub\n")
    for script in ("preinst", "postinst"):
        (place / "DEBIAN" / script).write_text(f"#!/bin/sh\nset -e\n[ ! -e /fail-{name} ]\nsleep 0.3\n")
        (place / "DEBIAN" / script).chmod(0o755)
    (place / f"usr/share/{name}").mkdir(parents=True)
    (place / f"usr/share/{name}/stub").write_text("x")
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", str(place), str(folder / f"{name}_{VERSION}_amd64.deb")], check=True, capture_output=True)
    shutil.rmtree(place)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        pristine = debian_root()
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.root = pathlib.Path(cls.temporary.name) / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", str(pristine), str(cls.root)], check=True)
        repository = cls.root / "repository"
        repository.mkdir()
        stub_package(repository, "nvidia-kernel-dkms", "")
        stub_package(repository, "libcuda1", "nvidia-kernel-dkms")
        stub_package(repository, "nvidia-driver", "libcuda1")
        index = subprocess.run(["dpkg-scanpackages", "--multiversion", "."], cwd=repository, capture_output=True, text=True)
        (repository / "Packages").write_text(index.stdout)
        (cls.root / "etc/apt/sources.list").write_text("deb [trusted=yes] file:/repository ./\n")
        host_tree.build("debian-12-gpu", cls.root)
        subprocess.run(["chroot", str(cls.root), "apt-get", "update"], check=True, capture_output=True)
        cls.before = cls.packages()

    @classmethod
    def packages(cls):
        text = subprocess.run(["dpkg-query", f"--admindir={cls.root}/var/lib/dpkg", "-W", "-f", "${Package} ${Status}\n"], capture_output=True, text=True).stdout
        return sorted(text.splitlines())

    def pagoda(self, *words):
        return subprocess.run([PAGODA, "driver", *words, "--root", str(self.root)], capture_output=True, text=True, timeout=120)

    def journal(self):
        try:
            return json.loads((self.root / "var/lib/pagoda/driver-install.json").read_text())
        except (OSError, ValueError):
            return {"steps": [], "finished": True}

    def assert_whole(self):
        now = self.packages()
        for name in STUBS:
            self.assertIn(f"{name} install ok installed", now)
        self.assertTrue(self.journal()["finished"])

    def assert_as_before(self):
        self.assertEqual(self.packages(), self.before)
        for name in STUBS:
            self.assertFalse((self.root / f"usr/share/{name}").exists())

    def start_and_kill(self, reached):
        """Runs an installation, kills it and all of its children when `reached()`; False: it ended before."""
        started = subprocess.Popen([PAGODA, "driver", "install", "--root", str(self.root)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        while started.poll() is None:
            if reached():
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()
                return True
            time.sleep(0.005)
        return False

    def test_from_one_end_to_the_other_and_back(self):
        done = self.pagoda("install")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("a reboot is due", done.stdout)
        self.assert_whole()
        done = self.pagoda("install", "--undo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_as_before()

    def test_killed_at_every_step(self):
        def step_runs(number):
            return lambda: len(self.journal()["steps"]) > number and not self.journal()["finished"] and self.journal()["steps"][number]["state"] == "running"

        def package_is(name, state):
            return lambda: f"{name} install ok {state}" in self.packages() or f"{name} install reinstreq {state}" in self.packages()

        points = [step_runs(0), step_runs(1)]
        for name in STUBS:
            points += [package_is(name, "unpacked"), package_is(name, "half-configured")]
        killed = 0
        for index, reached in enumerate(points):
            with self.subTest(point=index):
                killed += self.start_and_kill(reached)
                if not self.journal()["finished"]:
                    done = self.pagoda("verify")
                    self.assertEqual(done.returncode, 1)
                    self.assertIn("To go on: pagoda driver install. To go back: pagoda driver install --undo.", done.stdout)
                if index % 2 == 0:  # on to the end first; else straight back
                    done = self.pagoda("install")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assert_whole()
                done = self.pagoda("install", "--undo")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assert_as_before()
        self.assertGreaterEqual(killed, len(points) - 2, "most kills must have come in time")

    def test_a_package_that_fails(self):
        (self.root / "fail-libcuda1").write_text("")
        try:
            done = self.pagoda("install")
        finally:
            (self.root / "fail-libcuda1").unlink()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"step 2 of 2 \(install nvidia-driver\) failed: apt-get .* ended with 100")
        self.assertIn("To go back: pagoda driver install --undo", done.stderr)
        self.assertIn("nvidia-driver: failed", done.stderr)
        done = self.pagoda("install")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_whole()
        self.assertEqual(self.pagoda("install", "--undo").returncode, 0)
        self.assert_as_before()

    def test_two_at_once(self):
        """One installs; the other meets its lock and says so, or waits for its dpkg and comes after it."""
        both = [subprocess.Popen([PAGODA, "driver", "install", "--root", str(self.root)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(2)]
        outcomes = [(run.wait(120), run.stderr.read()) for run in both]
        for run in both:
            run.stderr.close()
        self.assertIn(0, [code for code, _ in outcomes], outcomes)
        for code, errors in outcomes:
            self.assertTrue(code == 0 or "is being changed by another run" in errors, errors)
        self.assert_whole()
        self.assertEqual(self.pagoda("install", "--undo").returncode, 0)
        self.assert_as_before()


if __name__ == "__main__":
    PAGODA, CACHE = sys.argv[1], pathlib.Path(sys.argv[2])
    reason = why_not()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    CACHE.mkdir(parents=True, exist_ok=True)
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    for _, reason in result.skipped:
        print("skipped:", reason)
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
