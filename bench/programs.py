"""What the benchmarks run: our programs in a Release build, llama.cpp's from the pinned sources."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "pagoda"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def output_of(*command):
    return run(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def build_ours(*targets):
    """Returns the build folder."""
    folder = ROOT / "build" / "bench"
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPAGODA_TESTS=OFF",
        stdout=subprocess.DEVNULL)
    run("cmake", "--build", folder, "--target", *targets, stdout=subprocess.DEVNULL)
    return folder


def build_llama_cpp(target):
    """Returns the program's path."""
    source = pathlib.Path(output_of(sys.executable, ROOT / "tools" / "fetch.py", "llama-cpp").strip()) / "llama.cpp"
    folder = CACHE / "peers" / "llama.cpp"
    program = folder / "bin" / target
    if not program.exists():
        print(f"building {target} of llama.cpp, about ten minutes on two cores", file=sys.stderr)
        run("cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DGGML_NATIVE=ON",
            "-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", stdout=subprocess.DEVNULL)
        run("cmake", "--build", folder, "--target", target, stdout=subprocess.DEVNULL)
    return program


def requantised(model, quantiser, kind):
    """The model's file in another type of llama.cpp's ("Q4_0", "BF16"), made once. For speeds: what the first file has
    lost stays lost."""
    target = CACHE / "bench-models" / f"{model.stem.rsplit('.', 1)[0]}.{kind}.gguf"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_suffix(".part")
        run(quantiser, "--allow-requantize", model, unfinished, kind, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        unfinished.rename(target)
    return target


def cpu_name():
    return next(line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
