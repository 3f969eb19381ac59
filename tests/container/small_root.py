"""Small container roots made from this machine's own files: no network, a second each.

glibc_root: a shell, the loader and libc, and a probe that opens libcuda.so.1 by its name. busybox_root: one static program.
driver_tree: a machine with a driver whose libraries are real shared objects and whose device nodes are real nodes.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "host"))
import host_tree  # noqa: E402

PROBE = r"""
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <errno.h>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '/') {  /* a device node: can it be opened? ENXIO: yes, but no driver answers */
      int f = open(argv[i], O_RDWR);
      printf("%s %s\n", argv[i], f >= 0 ? "opened" : strerror(errno));
    } else if (strcmp(argv[i], "mknod") == 0) {
      printf("mknod %d\n", mknod("/dev/another", S_IFCHR | 0600, makedev(195, 1)));
    } else {
      void* library = dlopen(argv[i], RTLD_NOW);
      int (*version)(void) = library ? (int (*)(void))dlsym(library, "driver_version") : 0;
      printf("%s %d\n", argv[i], version ? version() : -1);
    }
  }
  return 0;
}
"""


def compile_c(source, output, *flags):
    output.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-x", "c", "-", "-o", str(output), *flags], input=source, text=True, check=True)


def shared_object(path, soname, version=580, more=""):
    compile_c(f"int driver_version(void) {{ return {version}; }}\n{more}", path, "-shared", "-fPIC", f"-Wl,-soname,{soname}")


def copy_program(root, program):
    """The program and every library that it is linked with, at the same paths."""
    real = pathlib.Path(shutil.which(program) or program)
    wanted = {real} | {pathlib.Path(p) for p in re.findall(r"(/\S+) \(", subprocess.run(["ldd", real], capture_output=True, text=True).stdout)}
    for path in wanted:
        place = root / str(path).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)


def add_folders(root):
    for name in ("dev", "proc", "sys", "etc", "tmp", "usr/lib", "usr/bin", "etc/ld.so.conf.d", "var", "run"):
        (root / name).mkdir(parents=True, exist_ok=True)


def glibc_root(root, lib64=False):
    """With `lib64`: libraries in /usr/lib64 alone, as on Red Hat's systems; else the multiarch path."""
    add_folders(root)
    folder = "usr/lib64" if lib64 else "usr/lib/x86_64-linux-gnu"
    (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "usr/lib64").mkdir(exist_ok=True)
    for name, target in (("lib", "usr/lib"), ("lib64", "usr/lib64"), ("bin", "usr/bin")):
        (root / name).symlink_to(target)
    compile_c(PROBE, root / "usr/bin/probe")
    copy_program(root, root / "usr/bin/probe")
    copy_program(root, "/bin/sh")
    for program in ("ls", "cat"):
        copy_program(root, program)
    (root / "etc/ld.so.conf").write_text("include /etc/ld.so.conf.d/*.conf\n")
    if not lib64:
        (root / "etc/ld.so.conf.d/x86_64-linux-gnu.conf").write_text("/usr/lib/x86_64-linux-gnu\n")
    return root


def busybox_root(root):
    add_folders(root)
    (root / "bin").mkdir()
    shutil.copy2(shutil.which("busybox"), root / "bin/busybox")
    for name in ("sh", "ls", "cat"):
        (root / "bin" / name).symlink_to("busybox")
    return root


def driver_with_smi(root, program, library):
    """Its libnvidia-ml.so.1 is the simulated one, its nvidia-smi the program: with PAGODA_SIMULATE set, a machine that answers."""
    driver_tree(root)
    shutil.copy(library, root / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.580.95.05")
    (root / "usr/bin/nvidia-smi").unlink()
    shutil.copy(program, root / "usr/bin/nvidia-smi")
    return root


def driver_tree(root, tree="h100", folder="usr/lib/x86_64-linux-gnu"):
    root.mkdir(parents=True)
    host_tree.build(tree, root)
    for name, soname in (("libcuda", "libcuda.so.1"), ("libnvidia-ml", "libnvidia-ml.so.1")):
        old = root / "usr/lib/x86_64-linux-gnu"
        for path in (old / f"{name}.so.580.95.05", old / soname):
            path.unlink()
        shared_object(root / folder / f"{name}.so.580.95.05", soname)
        (root / folder / soname).symlink_to(f"{name}.so.580.95.05")
    return root
