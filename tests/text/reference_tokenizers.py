"""The reference tokenizers, built by the package `tokenizers` from a GGUF file's vocabulary as the models' own
tokenizer.json files build them."""
from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers
from tokenizers.models import BPE

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)

CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
LEAD = r"[^\r\n\p{L}\p{N}]?"
CL100K = CONTRACTION + "|" + LEAD + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL
QWEN2 = CONTRACTION + "|" + LEAD + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL
QWEN35 = CONTRACTION + "|" + LEAD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + TAIL
O200K = (f"{LEAD}{UPPER}*{LOWER}+{CONTRACTION}?|{LEAD}{UPPER}+{LOWER}*{CONTRACTION}?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + TAIL)
TEKKEN = f"{LEAD}{UPPER}*{LOWER}+|{LEAD}{UPPER}+{LOWER}*" + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + TAIL
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
             r"| ?[\p{P}\p{S}]+[\r\n]*|" + TAIL)
BAILING = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")
SEED = CONTRACTION + "|" + LEAD + r"\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + TAIL
BLOOM = r" ?[^(\s|[.,!?\x{2026}\x{3002}\x{ff0c}\x{3001}\x{964}\x{6d4}\x{60c}])]+"
TRIPLES = r"\d{1,3}(?=(?:\d{3})*\b)"


def split(*patterns):
    steps = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    return steps + [pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]


def digits():
    return pre_tokenizers.Digits(individual_digits=True)


def gpt2():
    return pre_tokenizers.ByteLevel(add_prefix_space=False)


def with_digits(*patterns):
    steps = split(*patterns)
    return steps[:-1] + [digits(), steps[-1]]


def falcon():
    return [pre_tokenizers.Punctuation("contiguous"), gpt2(), pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated")]


DEEPSEEK_LETTERS = (
    r"\s?[A-Za-z\x{b5}\x{c0}-\x{d6}\x{d8}-\x{f6}\x{f8}-\x{1ba}\x{1bc}-\x{1bf}\x{1c4}-\x{293}"
    r"\x{295}-\x{2af}\x{370}-\x{373}\x{376}\x{377}\x{37b}-\x{37d}\x{37f}\x{386}\x{388}-\x{38a}"
    r"\x{38c}\x{38e}-\x{3a1}\x{3a3}-\x{3f5}\x{3f7}-\x{481}\x{48a}-\x{52f}\x{531}-\x{556}"
    r"\x{10a0}-\x{10c5}\x{13a0}-\x{13f5}\x{13f8}-\x{13fd}\x{1c90}-\x{1cba}\x{1cbd}-\x{1cbf}"
    r"\x{1d00}-\x{1d2b}\x{1d6b}-\x{1d77}\x{1d79}-\x{1d9a}\x{1e00}-\x{1f15}\x{1f18}-\x{1f1d}"
    r"\x{1f20}-\x{1f45}\x{1f48}-\x{1f4d}\x{1f50}-\x{1f57}\x{1f59}\x{1f5b}\x{1f5d}"
    r"\x{1f5f}-\x{1f7d}\x{1f80}-\x{1fb4}\x{1fb6}-\x{1fbc}\x{1fbe}\x{1fc2}-\x{1fc4}"
    r"\x{1fc6}-\x{1fcc}\x{1fd0}-\x{1fd3}\x{1fd6}-\x{1fdb}\x{1fe0}-\x{1fec}\x{1ff2}-\x{1ff4}"
    r"\x{1ff6}-\x{1ffc}\x{2102}\x{2107}\x{210a}-\x{2113}\x{2115}\x{2119}-\x{211d}\x{2124}"
    r"\x{2126}\x{2128}\x{212a}-\x{212d}\x{212f}-\x{2134}\x{2139}\x{213c}-\x{213f}"
    r"\x{2145}-\x{2149}\x{214e}\x{2183}\x{2184}\x{2c00}-\x{2c7b}\x{2c7e}-\x{2ce4}"
    r"\x{2ceb}-\x{2cee}\x{2cf2}\x{2cf3}\x{a640}-\x{a66d}\x{a680}-\x{a69b}\x{a722}-\x{a76f}"
    r"\x{a771}-\x{a787}\x{a78b}-\x{a78e}\x{ab70}-\x{abbf}\x{fb00}-\x{fb06}\x{fb13}-\x{fb17}"
    r"\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}\x{10400}-\x{1044f}\x{104b0}-\x{104d3}"
    r"\x{104d8}-\x{104fb}\x{10c80}-\x{10cb2}\x{10cc0}-\x{10cf2}\x{118a0}-\x{118df}"
    r"\x{1e900}-\x{1e943}]+")
DEEPSEEK_MARKS = r"\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+"
CJK = r"[\x{4e00}-\x{9fa5}\x{800}-\x{4e00}\x{ac00}-\x{d7ff}]+"
CJK_AND_KANA = r"[\x{4e00}-\x{9fa5}\x{3040}-\x{309f}\x{30a0}-\x{30ff}]+"
# name in tokenizer.ggml.pre: (pre-tokenizer steps, normal form C, whole words first)
BYTE_LEVEL = {
    "gpt-2": ([gpt2()], False, False),
    "mpt": ([gpt2()], True, False),
    "smollm": ([digits(), gpt2()], False, False),
    "starcoder": ([digits(), gpt2()], False, False),
    "refact": ([digits(), gpt2()], False, False),
    "command-r": ([digits(), gpt2()], True, False),
    "llama-bpe": (split(CL100K), False, True),
    "dbrx": (split(CL100K), False, False),
    "qwen2": (split(QWEN2), True, False),
    "qwen35": (split(QWEN35), True, False),
    "gpt-4o": (split(O200K), False, False),
    "tekken": (split(TEKKEN), False, True),
    "deepseek-llm": (with_digits(r"[\r\n]", DEEPSEEK_LETTERS, DEEPSEEK_MARKS, r"\s+$", CJK),
                     False, False),
    "deepseek-coder": (with_digits(r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK), False, False),
    "deepseek-v3": (split(r"\p{N}{1,3}", CJK_AND_KANA, DEEPSEEK3), False, False),
    "falcon": (falcon(), False, False),
    "bailingmoe": (split(BAILING), False, False),
    "seed-coder": (split(SEED), False, False),
    "bloom": (split(BLOOM), False, False),
    "tiny_aya": (split(TRIPLES, O200K), False, False),
}


def byte_level(metadata, pre):
    steps, nfc, whole_words_first = BYTE_LEVEL[pre]
    vocabulary = {text: i for i, text in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = []
    for merge in metadata["tokenizer.ggml.merges"]:
        left, right = merge[0] + merge[1:].partition(" ")[0], merge[1:].partition(" ")[2]
        merges.append((left, right))
    tokenizer = Tokenizer(BPE(vocabulary, merges, ignore_merges=whole_words_first))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    tokenizer.decoder = decoders.ByteLevel()
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    add_tokens(tokenizer, metadata, lambda text: text)
    return tokenizer


def sentence_piece(metadata):
    """As the conversion of a SentencePiece model does it: the merges are what the scores imply."""
    kinds, scores = metadata["tokenizer.ggml.token_type"], metadata["tokenizer.ggml.scores"]
    tokens = metadata["tokenizer.ggml.tokens"]
    prefix = metadata.get("tokenizer.ggml.add_space_prefix", True)
    escaped = [text.replace(" ", "▁") if kind == USER_DEFINED else text for text, kind in zip(tokens, kinds)]
    vocabulary = {text: i for i, text in enumerate(escaped)}
    implied = []
    for i, (text, kind) in enumerate(zip(escaped, kinds)):
        if kind in (NORMAL, USER_DEFINED, UNUSED):
            score = 0.0 if kind == USER_DEFINED else scores[i]
            local = [(text[:cut], text[cut:]) for cut in range(1, len(text))]
            local = [(a, b) for a, b in local if a in vocabulary and b in vocabulary]
            local.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
            implied += [(a, b, score) for a, b in local]
    implied.sort(key=lambda merge: (merge[2], len(merge[0]), len(merge[1])), reverse=True)
    unknown = tokens[metadata.get("tokenizer.ggml.unknown_token_id", 0)]
    tokenizer = Tokenizer(BPE(vocabulary, [(a, b) for a, b, _ in implied], unk_token=unknown, fuse_unk=True,
                              byte_fallback=True))
    steps = [normalizers.Prepend("▁")] if prefix else []
    tokenizer.normalizer = normalizers.Sequence(steps + [normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
                                          + ([decoders.Strip(" ", 1, 0)] if prefix else []))
    add_tokens(tokenizer, metadata, lambda text: text.replace(" ", "▁") if text.strip(" ") == "" else text)
    return tokenizer


def add_tokens(tokenizer, metadata, spelling):
    """Control and user-defined tokens are looked for first. Phi-3's swallow the white space after them."""
    kinds, tokens = metadata["tokenizer.ggml.token_type"], metadata["tokenizer.ggml.tokens"]
    name = metadata.get("general.name", "").lower()
    strips = "phi-3" in name or "phi3" in name

    def added(text, special):
        rstrip = strips and text not in ("<s>", "<unk>", "<|endoftext|>")
        return AddedToken(text, normalized=False, special=special, rstrip=rstrip)
    control = [added(text, True) for text, kind in zip(tokens, kinds) if kind in (CONTROL, UNKNOWN)]
    plain = [added(spelling(text), False) for text, kind in zip(tokens, kinds) if kind == USER_DEFINED]
    tokenizer.add_tokens(plain)
    tokenizer.add_special_tokens(control)


def build(metadata, pre=None):
    if metadata["tokenizer.ggml.model"] == "llama":
        return sentence_piece(metadata)
    return byte_level(metadata, pre or metadata["tokenizer.ggml.pre"])
