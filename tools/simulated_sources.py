#!/usr/bin/env python3
"""Writes what the simulated libnvidia-ml is built from besides its sources:

    tools/simulated_sources.py NVML_H SCENARIO_FOLDER OUT_FOLDER

shipped_texts.cc: the YAML files of SCENARIO_FOLDER/{models,workloads,scenarios,system} as texts, and the names and
numbers of nvml.h's fields and GPM metrics. unsupported_calls.cc: a weak definition of every function of nvml.h, which
answers NVML_ERROR_NOT_SUPPORTED; the calls that the library does answer are strong and win.
"""
import re
import sys
from pathlib import Path

KINDS = ("models", "workloads", "scenarios", "system")
# Not nvmlReturn_t f(…): defined by hand.
OWN = {"nvmlErrorString"}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def literal(text):
    """A raw string; in pieces, since compilers bound the length of one."""
    pieces = [text[i:i + 8000] for i in range(0, len(text), 8000)] or [""]
    return "\n".join(f'R"yaml({piece})yaml"' for piece in pieces)


def shipped_texts(folder, header):
    fields = re.findall(r"#define\s+NVML_FI_(\w+)\s+(\d+)\s", header)
    metrics = re.findall(r"\bNVML_GPM_METRIC_(\w+)\s*=\s*(\d+)", header)
    rows = [f'    {{"{kind}", "{path.stem}", {literal(path.read_text())}}},\n'
            for kind in KINDS for path in sorted((folder / kind).glob("*.yaml"), key=lambda path: path.stem)]
    names = [f'    {{"{name}", {number}}},\n' for name, number in fields if name != "MAX"]
    gpm = [f'    {{"{name.lower()}", {number}}},\n' for name, number in metrics if name != "MAX"]
    return "".join([
        '#include "simulate/shipped.h"\n\nnamespace pagoda::simulate {\nnamespace {\n',
        "constexpr ShippedText kTexts[] = {\n", *rows, "};\n",
        "constexpr NvmlName kFields[] = {\n", *names, "};\n",
        "constexpr NvmlName kMetrics[] = {\n", *gpm, "};\n",
        "}  // namespace\n",
        "std::span<const ShippedText> shipped_texts() { return kTexts; }\n",
        "std::span<const NvmlName> field_names() { return kFields; }\n",
        "std::span<const NvmlName> gpm_metric_names() { return kMetrics; }\n",
        "}  // namespace pagoda::simulate\n"])


def unsupported_calls(header):
    functions = sorted(set(re.findall(r"nvmlReturn_t\s+DECLDIR\s+(nvml\w+)\s*\(", header)) - OWN)
    lines = ["// Without nvml.h: its prototypes would not let these be declared alike.\n",
             'extern "C" int pagoda_simulated_unsupported(const char* function);\n']
    lines += [f'extern "C" __attribute__((weak, visibility("default"))) int {name}() '
              f'{{ return pagoda_simulated_unsupported("{name}"); }}\n' for name in functions]
    return "".join(lines)


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    header, folder, out = without_comments(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    write(out / "shipped_texts.cc", shipped_texts(folder, header))
    write(out / "unsupported_calls.cc", unsupported_calls(header))


main()
