#!/usr/bin/env python3
"""Compares our reading of tokenizer.json with that of the package `tokenizers`: small vocabularies of every model, with
every normalizer, pre-tokenizer, post-processor and decoder, trained here, on the texts of corpus.py.

    compare_pipelines.py ENCODE_TEXTS [TOKENIZER.json...] [--only NAME] [--scale SHARE]
"""
import argparse
import random
import sys
import tempfile
import unicodedata
from pathlib import Path

import reference_package

reference_package.make_importable()

from tokenizers import AddedToken, Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors, trainers  # noqa: E402
from tokenizers.models import BPE, Unigram, WordLevel, WordPiece  # noqa: E402

import corpus  # noqa: E402
import encoder  # noqa: E402

BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PLAIN_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
CLIP_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
MANY = 1.0   # all texts: about 5 MB
SOME = 0.15


def training_texts():
    rng = random.Random(7)
    texts = list(corpus.sources(300_000)) + [corpus.mixture(rng, 400) for _ in range(150)]
    return [text.replace("\x00", "") for text in texts]


def template(begin, end):
    return processors.TemplateProcessing(single=f"{begin[0]}:0 $A:0 {end[0]}:0", special_tokens=[begin, end],
                                         pair=f"{begin[0]}:0 $A:0 {end[0]}:0 $B:1 {end[0]}:1")


def word_piece(texts, normalizer, pre_tokenizer=None):
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=3000, special_tokens=BERT_SPECIAL,
                                                                   show_progress=False))
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def unigram(texts, normalizer, pre_tokenizer, decoder=None, byte_fallback=False):
    tokenizer = Tokenizer(Unigram())
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoder or decoders.Metaspace()
    special = PLAIN_SPECIAL + ([f"<0x{byte:02X}>" for byte in range(256)] if byte_fallback else [])
    tokenizer.train_from_iterator(texts[:45] + texts[-4:], trainers.UnigramTrainer(vocab_size=3000, unk_token="<unk>", show_progress=False,
                                                                       special_tokens=special))
    if byte_fallback:
        return with_bytes(tokenizer)
    tokenizer.post_processor = template(("<s>", 0), ("</s>", 2))
    return tokenizer


def with_bytes(tokenizer):
    """The same, where a character that is no piece is its bytes."""
    import json
    state = json.loads(tokenizer.to_str())
    state["model"]["byte_fallback"] = True
    state["added_tokens"] = [token for token in state["added_tokens"] if not token["content"].startswith("<0x")]
    state["decoder"] = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    return Tokenizer.from_str(json.dumps(state))


def byte_pairs(texts, pre_tokenizer, special=tuple(PLAIN_SPECIAL), alphabet=True, normalizer=None, trained=None, **model):
    tokenizer = Tokenizer(BPE(**model))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=3000, special_tokens=list(special), show_progress=False, **(trained or {}),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet else []))
    return tokenizer


def roberta(texts):
    tokenizer = byte_pairs(texts, pre_tokenizers.ByteLevel(add_prefix_space=True))
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    return tokenizer


def clip(texts):
    normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    words = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP_WORDS), "removed", invert=True),
                                     pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer = byte_pairs(texts, words, ["<|startoftext|>", "<|endoftext|>"], normalizer=normalizer, end_of_word_suffix="</w>",
                           trained={"end_of_word_suffix": "</w>"}, unk_token="<|endoftext|>")
    tokenizer.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False,
                                                            add_prefix_space=False)
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.BPEDecoder()])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def llama2(texts):
    normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    pieces = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = byte_pairs([" ".join(text.split()[:60]) for text in texts], pre_tokenizers.Metaspace(), pieces, alphabet=False,
                           unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    import json
    state = json.loads(tokenizer.to_str())
    state["pre_tokenizer"] = None
    state["added_tokens"] = [{**token, "normalized": True} for token in state["added_tokens"]
                             if not token["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = template(("<s>", 1), ("</s>", 2))
    return tokenizer


def whole_words(texts, pre_tokenizer, normalizer=None):
    tokenizer = Tokenizer(WordLevel(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=40000, special_tokens=BERT_SPECIAL,
                                                                   show_progress=False))
    return tokenizer


def with_rules(tokenizer):
    """Added tokens with every rule."""
    tokenizer.add_tokens([
        AddedToken("lefty", lstrip=True), AddedToken("righty", rstrip=True), AddedToken("both", lstrip=True, rstrip=True),
        AddedToken("self", single_word=True), AddedToken("Raw Case", normalized=False), AddedToken("NORM Case", normalized=True),
        AddedToken("def ", normalized=False), AddedToken("é", normalized=True, single_word=True)])
    tokenizer.add_special_tokens([AddedToken("<|x|>", special=True, rstrip=True), AddedToken("<|x|>y", special=True)])
    return tokenizer


def nmt_form(charsmap=None):
    steps = [normalizers.Nmt(), normalizers.NFKC()] if charsmap is None else [normalizers.Precompiled(charsmap)]
    return normalizers.Sequence(steps + [normalizers.Replace(Regex(" {2,}"), " ")])


def albert_form():
    return normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(),
                                 normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])


def sentence_piece_charsmap(texts, folder):
    """SentencePiece's own rules, out of a model that it makes; None where the package is not installed."""
    try:
        import sentencepiece
    except ImportError:
        print("skipped: Precompiled, because the package sentencepiece is not installed (tests/requirements.txt)")
        return None
    sample = folder / "sample.txt"
    sample.write_text("\n".join(" ".join(text.split()) for text in texts[:80]), "utf-8")
    sentencepiece.SentencePieceTrainer.train(input=str(sample), model_prefix=str(folder / "spm"), vocab_size=4000,
                                             model_type="unigram", minloglevel=2, hard_vocab_limit=False)
    return charsmap_of((folder / "spm.model").read_bytes())


def fields(message):
    """(number, value) of a protobuf message; values of length-delimited fields are bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value, at = message[at:at + size], at + size
        yield key >> 3, value


def charsmap_of(model):
    normalizer = next(value for number, value in fields(model) if number == 3)
    return next(value for number, value in fields(normalizer) if number == 2)


def families(texts, folder):
    """name → (how to make it, share of the texts)"""
    behaviours = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    lower = normalizers.BertNormalizer
    made = {
        "bert uncased": (lambda: word_piece(texts, lower()), MANY),
        "bert cased": (lambda: word_piece(texts, lower(lowercase=False, strip_accents=False)), SOME),
        "bert cased without accents": (lambda: word_piece(texts, lower(lowercase=False, strip_accents=True,
                                                                       handle_chinese_chars=False)), SOME),
        "bert with added tokens' rules": (lambda: with_rules(word_piece(texts, lower())), SOME),
        "unigram, NMT form": (lambda: unigram(texts, nmt_form(), pre_tokenizers.Metaspace()), MANY),
        "unigram, Albert's form": (lambda: unigram(texts, albert_form(), pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])), SOME),
        "unigram, bytes": (lambda: unigram(texts, normalizers.NFKD(), pre_tokenizers.Metaspace(prepend_scheme="first"),
                                           byte_fallback=True), SOME),
        "unigram, unsplit": (lambda: unigram(texts, normalizers.NFD(), pre_tokenizers.Metaspace(
            prepend_scheme="never", split=False)), SOME),
        "roberta": (lambda: roberta(texts), MANY),
        "roberta with added tokens' rules": (lambda: with_rules(roberta(texts)), SOME),
        "clip": (lambda: clip(texts), MANY),
        "llama 2": (lambda: llama2(texts), MANY),
        "BPE with a prefix of pieces": (lambda: byte_pairs(
            texts, pre_tokenizers.Whitespace(), BERT_SPECIAL, alphabet=False, unk_token="[UNK]", continuing_subword_prefix="##",
            trained={"continuing_subword_prefix": "##", "limit_alphabet": 300}), SOME),
        "BPE, unknown fused": (lambda: byte_pairs(
            texts, pre_tokenizers.WhitespaceSplit(), BERT_SPECIAL, alphabet=False, unk_token="[UNK]", fuse_unk=True,
            trained={"limit_alphabet": 60}), SOME),
        "words, Digits, Punctuation": (lambda: whole_words(texts, pre_tokenizers.Sequence(
            [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(), pre_tokenizers.Punctuation("contiguous")]),
            normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(left=True, right=False)])), SOME),
        "words, CharDelimiterSplit": (lambda: whole_words(texts, pre_tokenizers.CharDelimiterSplit("e")), SOME),
    }
    for behaviour in behaviours:
        made[f"words, Split {behaviour}"] = (lambda behaviour=behaviour: whole_words(texts, pre_tokenizers.Sequence(
            [pre_tokenizers.Split(" ", behaviour), pre_tokenizers.Split(Regex(r"\d+|[a-c]"), behaviour, invert=True),
             pre_tokenizers.Punctuation(behaviour)])), SOME)
    charsmap = sentence_piece_charsmap(texts, folder)
    if charsmap:
        made["unigram, SentencePiece's form"] = (lambda: unigram(texts, nmt_form(charsmap), pre_tokenizers.Metaspace()), MANY)
    return made


def compare(program, name, path, scale):
    reference = Tokenizer.from_file(str(path))
    reference.no_truncation()
    reference.no_padding()
    special = [token.content for token in reference.get_added_tokens_decoder().values()]
    texts = corpus.texts(special, scale)
    if "Split" in name:
        # A regular expression knows the characters of its library's Unicode: the reference's is newer than PCRE2's 14.
        texts = [text for text in texts if not any(unicodedata.category(character) == "Cn" for character in text)]
    wrong = 0
    for add_special, plain_special in ((False, False), (True, False), (False, True)):
        chosen = texts if not plain_special and not add_special else texts[::10]
        ours, told = encoder.encode(program, str(path), [text.encode() for text in chosen], plain_special,
                                    add_special=add_special)
        reference.encode_special_tokens = plain_special
        theirs = reference.encode_batch(chosen, add_special_tokens=add_special)
        decoded = reference.decode_batch([encoding.ids for encoding in theirs], skip_special_tokens=False)
        for text, (ids, back), encoding, their_text in zip(chosen, ours, theirs, decoded):
            if ids == encoding.ids and back.decode("utf-8", "replace") == their_text:
                continue
            wrong += 1
            if wrong <= 4:
                report(reference, text, ids, encoding.ids, back, their_text)
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{name}: {len(texts)} texts, {size:.1f} MB, {wrong} differ; {told}", flush=True)
    return wrong


def report(reference, text, ours, theirs, back, their_text):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    if ours == theirs:
        print(f"  decoded {back[:80]!r}, reference {their_text[:80]!r}")
        return
    begin = max(0, at - 2)
    print(f"  {text[:40]!r}… at token {at}: ours {[reference.id_to_token(i) for i in ours[begin:at + 5]]}, "
          f"reference {[reference.id_to_token(i) for i in theirs[begin:at + 5]]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, scale) in families(training_texts(), Path(folder)).items():
            if options.only not in name:
                continue
            path = Path(folder) / "tokenizer.json"
            make().save(str(path))
            wrong += compare(options.program, name, path, scale * options.scale)
    for path in options.files:
        if not path.exists():
            print(f"skipped: {path} is not there (tools/fetch.py brings it)")
        elif options.only in str(path):
            wrong += compare(options.program, path.parent.name, path, options.scale)
    return min(1, wrong)


sys.exit(main())
