#!/usr/bin/env python3
"""Writes src/kernels/iq_grids.cc: the lattice points of GGUF's IQ types and their signs, from the `gguf` package.

    python3 tools/make_iq_grids.py src/kernels/iq_grids.cc

A point of eight (or four) magnitudes is one number, two (or three) bits for each, which choose one of the type's levels.
Needs: gguf, numpy.
"""
import sys
from importlib.metadata import version

import gguf
import numpy as np

TYPES = [("kIq2XxsGrid", "IQ2_XXS", 2), ("kIq2XsGrid", "IQ2_XS", 2), ("kIq2SGrid", "IQ2_S", 2), ("kIq3XxsGrid", "IQ3_XXS", 3),
         ("kIq3SGrid", "IQ3_S", 3), ("kIq1Grid", "IQ1_S", 2)]
PER_LINE = 17


def main() -> None:
    with open(sys.argv[1], "w", encoding="ascii") as out:
        print(f"// Made by tools/make_iq_grids.py with gguf {version('gguf')}: do not edit.\n", file=out)
        print('#include "kernels/iq_grids.h"\n\nnamespace pagoda::kernels {\n\n// clang-format off', file=out)
        for name, type_name, bits in TYPES:
            kind = getattr(gguf.quants, type_name)
            kind.init_grid()
            grid = kind.grid.reshape(kind.grid_shape)
            levels = {value: i for i, value in enumerate(kind.grid_map)}
            points = [sum(levels[int(value)] << (bits * i) for i, value in enumerate(point)) for point in grid]
            print(f"const uint16_t {name}[{len(points)}] = {{", file=out)
            for at in range(0, len(points), PER_LINE):
                print("    " + " ".join(f"{point:d}," for point in points[at:at + PER_LINE]), file=out)
            print("};", file=out)
        print("// clang-format on\n\n}  // namespace pagoda::kernels", file=out)


if __name__ == "__main__":
    main()
