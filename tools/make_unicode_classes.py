#!/usr/bin/env python3
"""Writes src/text/unicode_classes.cc: where the reference tokenizers' Unicode is not that of our libraries. Their
patterns know more characters than PCRE2 10.42 (Unicode 14), their normal forms fewer than utf8proc 2.8 (15).

Needs the package `tokenizers` (made with 0.23.3), a Python whose unicodedata is Unicode 14 (3.11), and libutf8proc.
"""
import argparse
import ctypes
import ctypes.util
import sys
import unicodedata

from tokenizers import Regex, __version__, normalizers, pre_tokenizers

SCALARS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
PROPERTIES = ["L", "N", "M", "P", "S", "Lu", "Ll", "Lt", "Lm", "Lo"]


def members(pattern):
    kept = set()
    for piece, _ in pre_tokenizers.Split(Regex(pattern), "removed").pre_tokenize_str("".join(SCALARS)):
        kept.update(piece)
    return {ord(c) for c in SCALARS if c not in kept}


def digits():
    pieces = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str("a".join(SCALARS))
    return {ord(piece) for piece, _ in pieces if len(piece) == 1 and piece != "a"}


def utf8proc_nfd():
    library = ctypes.CDLL(ctypes.util.find_library("utf8proc"))
    library.utf8proc_NFD.restype = ctypes.c_void_p
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]

    def nfd(text):
        pointer = library.utf8proc_NFD(text.encode())
        result = ctypes.string_at(pointer).decode()
        libc.free(pointer)
        return result
    return nfd


def normalising(nfd):
    """The code points that decompose, combine, or are reordered; all others leave a text as it is."""
    lowest, highest = "\u0334", "\u0345"  # combining classes 1 and 240
    points = set()
    for char in SCALARS[1:]:
        parts = nfd(char)
        if parts != char:
            points.add(ord(char))
            points.update(ord(part) for part in parts[1:])
        elif nfd(char + lowest) != char + lowest or nfd(highest + char) != highest + char:
            points.add(ord(char))
    return points


def ranges(points):
    spans = []
    for point in sorted(points):
        if spans and spans[-1][1] == point - 1:
            spans[-1][1] = point
        else:
            spans.append([point, point])
    return spans


def spell(points):
    return [f"\\x{{{a:x}}}" if a == b else f"\\x{{{a:x}}}-\\x{{{b:x}}}" for a, b in ranges(points)]


def literal(parts):
    lines, line = [], ""
    for part in parts:
        if len(line) + len(part) > 90:
            lines.append(line)
            line = ""
        line += part
    lines.append(line)
    return "\n        ".join(f'R"({text})"' for text in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    options = parser.parse_args()
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"unicodedata is {unicodedata.unidata_version}, PCRE2 10.42 is 14.0.0: use Python 3.11")
    known = {}
    for char in SCALARS:
        known.setdefault(unicodedata.category(char), set()).add(ord(char))
    rows = []
    for name in PROPERTIES:
        has = set().union(*(points for category, points in known.items() if category.startswith(name)))
        rows.append((f"p{{{name}}}", spell(members(f"\\p{{{name}}}") - has)))
    all_numbers = set().union(*(points for category, points in known.items() if category[0] == "N"))
    with open(options.output, "w", encoding="ascii") as out:
        out.write(f"// Made by tools/make_unicode_classes.py with tokenizers {__version__}; do not edit.\n")
        out.write('#include "text/unicode_classes.h"\n\nnamespace pagoda::text {\n\n')
        out.write("const UnicodeClassRow kUnicodeClassRows[] = {\n")
        for name, parts in rows:
            if parts:
                out.write(f'    {{"{name}",\n        {literal(parts)}}},\n')
        out.write("};\nconst int kUnicodeClassRowCount = static_cast<int>(std::size(kUnicodeClassRows));\n\n")
        out.write(f"const char kWhiteSpace[] =\n        {literal(spell(members(chr(92) + 's')))};\n\n")
        out.write(f"const char kNewerNumbers[] =\n        {literal(spell(digits() - all_numbers))};\n\n")
        inert = normalising(utf8proc_nfd()) - normalising(normalizers.NFD().normalize_str)
        out.write("const CodePointRange kInertCodePoints[] = {\n")
        for first, last in ranges(inert):
            out.write(f"    {{0x{first:x}, 0x{last:x}}},\n")
        out.write("};\nconst int kInertCodePointRangeCount = static_cast<int>(std::size(kInertCodePoints));\n\n")
        out.write("}  // namespace pagoda::text\n")


main()
