#!/usr/bin/env python3
"""Asks the package `tokenizers` which characters its normalizers and pre-tokenizers take for punctuation, marks and so
on, and prints src/text/reference_characters_table.cc. Its parts follow different Unicode versions, so that no library's
property is the same.

    tools/make_reference_characters.py > src/text/reference_characters_table.cc

Needs the packages `tokenizers` and, as a shared library, utf8proc, whose differences are listed.
"""
import ctypes

import tokenizers
from tokenizers import normalizers, pre_tokenizers

NEWLINE, SEPARATOR = 0x0A, "\u0416"  # a letter that no step changes, Lowercase aside
CHARACTERS = [p for p in range(1, 0x110000) if not 0xD800 <= p < 0xE000 and p not in (NEWLINE, ord(SEPARATOR))]
BATCH = 4096
STABLE, COMPATIBILITY, DECOMPOSE = 1 << 1, 1 << 2, 1 << 4

utf8proc = ctypes.CDLL("libutf8proc.so.2")
utf8proc.utf8proc_tolower.restype = ctypes.c_int32
utf8proc.utf8proc_map.restype = ctypes.c_ssize_t
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


def decomposed_by_utf8proc(text, options):
    raw, out = text.encode(), ctypes.c_void_p()
    size = utf8proc.utf8proc_map(raw, len(raw), ctypes.byref(out), options | STABLE | DECOMPOSE)
    result = ctypes.string_at(out, size).decode()
    libc.free(out)
    return result


def batches():
    return (CHARACTERS[i:i + BATCH] for i in range(0, len(CHARACTERS), BATCH))


def normalised(step, before="", after="", separator=SEPARATOR):
    """(code point, what its character between `before` and `after` becomes)"""
    for batch in batches():
        parts = step.normalize_str(separator.join(before + chr(p) + after for p in batch)).split(separator)
        if len(parts) != len(batch):
            parts = [step.normalize_str(before + chr(p) + after) for p in batch]
        yield from zip(batch, parts)


def bert(**wanted):
    settings = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
    return normalizers.BertNormalizer(**{**settings, **wanted})


def punctuation():
    step = pre_tokenizers.Punctuation("isolated")
    for batch in batches():
        alone = {begin for _, (begin, end) in step.pre_tokenize_str("".join("a" + chr(p) for p in batch) + "a")
                 if end == begin + 1 and begin % 2 == 1}
        yield from (p for i, p in enumerate(batch) if 2 * i + 1 in alone)


def word_characters():
    step = pre_tokenizers.Whitespace()
    for batch in batches():
        begins = {begin for _, (begin, _) in step.pre_tokenize_str("".join("a" + chr(p) for p in batch) + "a")}
        yield from (p for i, p in enumerate(batch) if 2 * i + 2 not in begins)


def ranges(points):
    out = []
    for p in sorted(points):
        if out and out[-1][1] == p - 1:
            out[-1][1] = p
        else:
            out.append([p, p])
    return out


def print_rows(declaration, rows):
    print(f"const {declaration}[] = {{")
    line = "   "
    for row in rows:
        text = " {" + ", ".join(f"{value:#x}" for value in row) + "},"
        if len(line) + len(text) > 110:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def print_ranges(name, points):
    rows = ranges(points)
    print_rows(f"CodePointRange {name}", rows)
    print(f"const int {name}Count = {len(rows)};\n")


def main():
    decomposed = {p for p, text in normalised(normalizers.NFD(), separator="\n") if text == chr(p)}
    compatible = [p for p, text in normalised(normalizers.NFKD(), separator="\n")
                  if text == chr(p) != decomposed_by_utf8proc(chr(p), COMPATIBILITY)]
    lower = [(p, *map(ord, text)) for p, text in normalised(normalizers.Lowercase(), separator="\n")
             if text != chr(utf8proc.utf8proc_tolower(p))]
    print(f"// Made by tools/make_reference_characters.py with tokenizers {tokenizers.__version__}; do not edit.")
    print('#include "text/reference_characters_table.h"\n\nnamespace pagoda::text {\n')
    print_ranges("kPunctuation", list(punctuation()))
    print_ranges("kControlOrUnassigned",
                 [p for p, text in normalised(bert(clean_text=True), "a", "b") if text == "ab"])
    print_ranges("kNonspacingMarks", [p for p, text in normalised(bert(strip_accents=True), "a", separator="\n")
                                      if text == "a" and p in decomposed])
    print_ranges("kCombiningMarks", [p for p, text in normalised(normalizers.StripAccents(), "a", separator="\n")
                                     if text == "a"])
    print_ranges("kWordCharacters", list(word_characters()) + [ord(SEPARATOR)])
    print_ranges("kInertForCompatibility", compatible)
    print_rows("LowerRow kLowerRows", [row if len(row) == 3 else (*row, 0) for row in lower])
    print(f"const int kLowerRowCount = {len(lower)};\n\n}}  // namespace pagoda::text")


main()
