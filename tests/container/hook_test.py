"""The static hook on roots that an attacker prepared, one test per known kind of fault. Nothing outside may change.

usage: hook_test.py PAGODA_CONTAINER_HOOK
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import bundle as bundles
import small_root

HOOK = ""
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def everything_in(folder):
    return {str(path.relative_to(folder)): (path.is_symlink() and os.readlink(path)) or (path.is_file() and path.read_bytes())
            for path in sorted(folder.rglob("*"))}


class Hook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.base = pathlib.Path(cls.temporary.name)
        cls.pristine = small_root.glibc_root(cls.base / "glibc")
        small_root.shared_object(cls.pristine / (LIBRARIES[1:] + "/libcuda.so.580.95.05"), "libcuda.so.1")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.base))
        self.root = self.folder / "rootfs"
        shutil.copytree(self.pristine, self.root, symlinks=True)
        (self.folder / "config.json").write_text(json.dumps({"root": {"path": "rootfs"}}))
        self.outside = self.folder / "outside"
        self.outside.mkdir()
        (self.outside / "libkeep.so").write_text("host")
        self.before = everything_in(self.outside)

    def hook(self, *words, environment=None):
        state = json.dumps({"ociVersion": "1.0.2", "id": "x", "status": "creating", "pid": 1, "bundle": str(self.folder)})
        return subprocess.run([HOOK, *words], input=state, capture_output=True, text=True, timeout=60, env=environment or {})

    def links(self, **rest):
        return self.hook("create-symlinks", "--link", f"libcuda.so.1::{LIBRARIES}/libcuda.so", "--link", f"x::/opt/new/place/libx.so", **rest)

    def cache(self, *words, **rest):
        return self.hook("update-ldcache", "--folder", LIBRARIES, *words, **rest)

    def assert_nothing_outside_changed(self):
        self.assertEqual(everything_in(self.outside), self.before)

    def test_what_it_is_for(self):
        self.assertEqual(self.links().returncode, 0)
        self.assertEqual(os.readlink(self.root / f"{LIBRARIES[1:]}/libcuda.so"), "libcuda.so.1")
        self.assertEqual(os.readlink(self.root / "opt/new/place/libx.so"), "x")
        self.assertEqual(self.links().returncode, 0, "a second time")
        done = self.cache()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(b"libcuda.so.1", (self.root / "etc/ld.so.cache").read_bytes())
        self.assertTrue((self.root / f"{LIBRARIES[1:]}/libcuda.so.1").is_symlink())

    def test_it_is_static(self):
        text = subprocess.run(["readelf", "-lW", HOOK], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("INTERP", text)

    def test_preloads_of_the_image_are_not_loaded(self):
        marker = self.outside / "preloaded"
        more = f'#include <fcntl.h>\n__attribute__((constructor)) static void evil(void) {{ open("{marker}", O_CREAT | O_WRONLY, 0600); }}'
        evil = self.root / "evil.so"
        small_root.shared_object(evil, "evil.so", more=more)
        (self.root / "etc/ld.so.preload").write_text("/evil.so\n")
        environment = {"LD_PRELOAD": str(evil), "LD_LIBRARY_PATH": str(self.root), "GLIBC_TUNABLES": "x"}
        subprocess.run(["/bin/true"], env=environment)
        self.assertTrue(marker.exists(), "the trap itself works")
        marker.unlink()
        self.assertEqual(self.links(environment=environment).returncode, 0)
        self.assertEqual(self.cache(environment=environment).returncode, 0)
        self.assert_nothing_outside_changed()

    def test_library_folder_is_a_link_to_the_host(self):
        for target in (str(self.outside), os.path.relpath(self.outside, self.root / "usr/lib"), "../" * 30 + str(self.outside)[1:]):
            with self.subTest(target):
                place = self.root / LIBRARIES[1:]
                shutil.rmtree(place) if not place.is_symlink() else place.unlink()
                place.symlink_to(target)
                self.links()
                self.cache()
                self.assert_nothing_outside_changed()

    def test_usr_lib_is_a_link_to_the_host(self):
        shutil.rmtree(self.root / "usr/lib")
        (self.root / "usr/lib").symlink_to(self.outside)
        self.links()
        self.cache()
        self.assert_nothing_outside_changed()

    def test_cache_and_configuration_are_links_to_the_host(self):
        (self.root / "etc/ld.so.cache").symlink_to(self.outside / "libkeep.so")
        (self.root / "etc/ld.so.conf").unlink()
        (self.root / "etc/ld.so.conf").symlink_to(self.outside / "libkeep.so")
        shutil.rmtree(self.root / "etc/ld.so.conf.d")
        (self.root / "etc/ld.so.conf.d").symlink_to(self.outside)
        self.cache()
        self.assert_nothing_outside_changed()

    def test_magic_links(self):
        place = self.root / LIBRARIES[1:]
        shutil.rmtree(place)
        place.symlink_to("/proc/self/cwd")
        subprocess.run(["mount", "-t", "proc", "proc", str(self.root / "proc")], check=True)
        self.addCleanup(subprocess.run, ["umount", str(self.root / "proc")], check=True)
        done = self.links()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Too many levels of symbolic links", done.stderr)
        self.assert_nothing_outside_changed()

    def test_a_file_in_the_links_place_stays(self):
        (self.root / f"{LIBRARIES[1:]}/libcuda.so").write_text("image")
        done = self.links()
        self.assertEqual(done.returncode, 0)
        self.assertIn("is left as it is", done.stderr)
        self.assertEqual((self.root / f"{LIBRARIES[1:]}/libcuda.so").read_text(), "image")

    def test_no_program_of_the_image_runs(self):
        marker = self.root / "ran"
        for name in ("ldconfig", "ldconfig.real"):
            (self.root / "usr/sbin").mkdir(exist_ok=True)
            program = self.root / "usr/sbin" / name
            program.write_text("#!/bin/sh\necho > /ran\n")
            program.chmod(0o755)
        if not (self.root / "sbin").exists():
            (self.root / "sbin").symlink_to("usr/sbin")
        self.assertEqual(self.cache().returncode, 0)
        self.assertFalse(marker.exists())

    def test_an_ldconfig_that_would_load_the_images_libraries_is_refused(self):
        done = self.cache("--ldconfig-path", shutil.which("cat"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a static program", done.stderr)
        self.assertFalse((self.root / "etc/ld.so.conf.d/00-pagoda.conf").exists())

    def test_links_that_are_swapped_meanwhile(self):
        place = self.root / "usr/lib/x86_64-linux-gnu"
        bait = self.root / "usr/lib/bait"
        bait.symlink_to(self.outside)
        libc = ctypes.CDLL(None, use_errno=True)
        done = threading.Event()
        swaps = [0]

        def swap():
            while not done.is_set():
                libc.renameat2(AT_FDCWD, os.fsencode(place), AT_FDCWD, os.fsencode(bait), RENAME_EXCHANGE)
                swaps[0] += 1

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            for index in range(150):
                self.hook("create-symlinks", "--link", f"x::{LIBRARIES}/sub{index}/libx.so")
            for _ in range(10):
                self.cache()
        finally:
            done.set()
            thread.join()
        self.assertGreater(swaps[0], 1000)
        self.assert_nothing_outside_changed()

    def test_bad_calls(self):
        for words, message in ((["frobnicate"], "no action 'frobnicate'"), (["create-symlinks", "--link", "x"], "TARGET::LINK"),
                               (["create-symlinks", "--link", "x::relative"], "no absolute path"),
                               (["create-symlinks", "--link", "x::/usr/.."], "no absolute path"), ([], "which action?")):
            done = self.hook(*words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(message, done.stderr)
        for state in ("", "{}", "[" * 100000, '{"bundle": "/nowhere"}'):
            done = subprocess.run([HOOK, "create-symlinks"], input=state, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    HOOK = os.path.abspath(sys.argv[1])
    reason = bundles.why_no_containers()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
