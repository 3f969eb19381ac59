"""Texts that try a tokenizer: about 5 MB, the same on every run of one Python.

Source code and prose of the Python installation, every assigned character, random words of many scripts, emoji,
white space of all kinds, long runs, random valid UTF-8, near-misses of special tokens and all special tokens.
"""
import random
import sysconfig
import unicodedata
from pathlib import Path

SCRIPTS = [
    (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x58F), (0x590, 0x5FF),
    (0x600, 0x6FF), (0x900, 0x97F), (0x980, 0x9FF), (0xB80, 0xBFF), (0xE00, 0xE7F), (0xF00, 0xFFF),
    (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F), (0x1780, 0x17FF), (0x1E00, 0x1EFF), (0x1F00, 0x1FFF),
    (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFB00, 0xFDFF), (0xFF00, 0xFFEF), (0x10400, 0x1044F),
    (0x1D400, 0x1D7FF), (0x20000, 0x2A6DF),
]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u2003", "\u3000", "\u200b", "\u2028", "\v", "\f", "\u1680",
          "\u180e", "\u0085", "\r", "\n \n", " \n", "\n ", "\t\t ", "   \n\n  "]
MARKS = list("""!"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~""") + ["…", "—", "«", "»", "„", "¿", "、", "。", "！", "€", "©", "½", "²"]
TAILS = ["'s", "'S", "'t", "'re", "'VE", "'m", "'ll", "'LL", "'d", "’s", "'ſ", "'x", "''s", "'"]
EMOJI = ["😀", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇫🇷", "❤️", "☺", "🧑🏿‍🚀", "1️⃣", "🫠", "🪿", "\ufe0f", "\u200d"]
LITERALS = ["<0x0A>", "<0xE2>", "▁", "▁▁", "▁▁▁a", "Ġ", "ĠĠ", "Ċ", "<unk>", "<s>", "</s>", "<|", "|>", "<|im_", "<|im_end|",
            "<bos", "[INST]", "<start_of_turn", "\x00", "\x7f", "\ufeff", "\ufffd", "\uffff", "\U0010ffff", "\ue000"]
NUMBERS = ["0", "1", "12", "123", "1234", "1234567", "3.14", "1,000,000", "٣٤", "१२३", "Ⅷ", "①", "0x1F", "1e10", "𝟘𝟙"]


def word(rng, low, high):
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.choice([1, 2, 3, 4, 5, 8, 13, 21])))


def mixture(rng, size):
    parts, length = [], 0
    script = rng.choice(SCRIPTS)
    while length < size:
        if rng.random() < 0.1:
            script = rng.choice(SCRIPTS)
        roll = rng.random()
        if roll < 0.5:
            part = word(rng, *script)
        elif roll < 0.62:
            part = rng.choice(MARKS) * rng.choice([1, 1, 1, 2, 3, 7])
        elif roll < 0.7:
            part = rng.choice(NUMBERS)
        elif roll < 0.76:
            part = rng.choice(TAILS)
        elif roll < 0.82:
            part = rng.choice(EMOJI)
        elif roll < 0.86:
            part = rng.choice(LITERALS)
        elif roll < 0.9:
            part = chr(rng.randint(0x300, 0x36F)) * rng.choice([1, 2, 5])
        else:
            part = rng.choice(SPACES) * rng.choice([1, 1, 2, 3, 40])
        parts.append(part)
        if rng.random() < 0.6:
            parts.append(" ")
        length += len(parts[-1]) + len(part)
    return "".join(parts)


def scalar(rng):
    while True:
        point = rng.choice([rng.randint(0, 0x7F), rng.randint(0, 0x7FF), rng.randint(0, 0xFFFF), rng.randint(0, 0x10FFFF)])
        if not 0xD800 <= point < 0xE000:
            return chr(point)


def every_character():
    points = [chr(p) for p in range(0x110000) if not 0xD800 <= p < 0xE000]
    assigned = [c for c in points if unicodedata.category(c) not in ("Cn", "Co")]
    for begin in range(0, len(assigned), 500):
        yield "".join(assigned[begin:begin + 500])
    # each among letters, digits, spaces, marks: what stands beside it decides where words end
    for begin in range(0, len(assigned), 2000):
        yield "".join(f"a{c} {c}1{c}'s" for c in assigned[begin:begin + 2000:7])


def sources(size):
    root = Path(sysconfig.get_paths()["stdlib"])
    taken = 0
    for path in sorted(root.glob("*.py")) + sorted(root.glob("*/*.py")):
        text = path.read_text("utf-8", errors="ignore")
        for begin in range(0, len(text), 6000):
            yield text[begin:begin + 6000]
        taken += len(text)
        if taken > size:
            return


def runs():
    for length in (1, 2, 3, 31, 32, 33, 63, 64, 65, 100, 1000, 20000):
        for unit in ("a", "A", " ", "\n", "\t", "0", "-", "é", "中", "ab", "\r\n", "=", "a ", "😀", "्", "ก", "''", "▁"):
            yield unit * length
            if length < 200:
                yield "x" + unit * length + "y " + unit * length + "\n"


def special(rng, tokens):
    for token in tokens:
        yield rng.choice(["", " ", "a", "\n", "  ", token]) + token + rng.choice(["", " ", "b", "\n", "  ", token])
    for _ in range(200):
        yield "".join(rng.choice([rng.choice(tokens), rng.choice(tokens)[:-1], " ", "text", "\n"]) for _ in range(40))


def texts(special_tokens, scale=1.0):
    """The texts, a list of str. `scale` shrinks the random and the source parts."""
    rng = random.Random(20250101)
    out = list(runs()) + list(every_character())[:: max(1, round(1 / scale))]
    if special_tokens:
        out += special(rng, special_tokens)
    out += sources(int(2_200_000 * scale))
    out += [mixture(rng, rng.choice([50, 500, 3000])) for _ in range(int(700 * scale))]
    out += ["".join(scalar(rng) for _ in range(rng.choice([10, 200, 1000]))) for _ in range(int(400 * scale))]
    rng.shuffle(out)
    return out
