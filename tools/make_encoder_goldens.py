#!/usr/bin/env python3
"""Makes what tests/embeddings compares with: vectors of all-MiniLM-L6-v2 by sentence-transformers, and two small random
encoders (a BERT that scores pairs, a RoBERTa that gives vectors) with what transformers computes for them.

    tools/make_encoder_goldens.py MINILM_FOLDER

Needs torch, transformers, sentence-transformers, tokenizers; their versions are recorded.
"""
import json
import sys
from pathlib import Path

import sentence_transformers
import tokenizers
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = Path(__file__).resolve().parents[1] / "tests" / "embeddings" / "data"
TEXTS = [
    "The cat sits on the mat.", "A dog plays in the garden.", "How do I reset my password?",
    "Zum Zurücksetzen des Passworts klicken Sie auf den Link.", "naïve café — “quotes” and e\u0301 marks",
    "日本語のテキストと中文文本 mixed with English", "مرحبا بالعالم", "x", "", "   spaces   and\ttabs\nand lines ",
    "Numbers 3.14159, 1,000,000 and 0x1F; e-mail a.b@example.org", "[CLS] special [SEP] tokens [MASK] in text [UNK]",
    "emoji 😀👍🏽 and ﬁ ligatures ½ ²", "An unusually-hyphenated, comma-laden; semicolon-bearing: sentence!?",
    "supercalifragilisticexpialidocious " * 3, "a" * 120, "word " * 400, "Ünïcödé ÀÉÎÕÜ ß ẞ İstanbul ǅ",
    "What is the capital of France?", "Paris is the capital and largest city of France.",
]
PAIRS = [("what is a panda?", "hi"), ("what is a panda?", "The giant panda is a bear native to China."), ("", "empty first"),
         ("one", "one"), ("How many people live in Berlin?", "Berlin has a population of 3,520,031 registered inhabitants.")]
SEED = 20260301


def rounded(vector):
    return [float(f"{x:.7g}") for x in vector]


def versions():
    return {"made by": "tools/make_encoder_goldens.py", "torch": torch.__version__, "transformers": transformers.__version__,
            "sentence-transformers": sentence_transformers.__version__, "tokenizers": tokenizers.__version__}


def save(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False) + "\n", "utf-8")


def minilm(folder):
    model = sentence_transformers.SentenceTransformer(folder, device="cpu")
    vectors = model.encode(TEXTS, batch_size=1)
    save(OUT / "minilm.json", {**versions(), "texts": TEXTS, "vectors": [rounded(v) for v in vectors]})


def bert_tokenizer():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(TEXTS + [text for pair in PAIRS for text in pair],
                                  trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tokenizer


def roberta_tokenizer():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return tokenizer


def randomised(model):
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, value in model.named_parameters():
            spread = torch.randn(value.shape, generator=generator)
            value.copy_(1 + 0.1 * spread if name.endswith("LayerNorm.weight") else 0.12 * spread)
    return model.eval()


def small(config_class, vocabulary, **more):
    return config_class(vocab_size=vocabulary, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
                        max_position_embeddings=130, **more)


def cross_encoder():
    folder, tokenizer = OUT / "tiny_cross_encoder", bert_tokenizer()
    config = small(transformers.BertConfig, tokenizer.get_vocab_size(), num_labels=1, type_vocab_size=2)
    model = randomised(transformers.BertForSequenceClassification(config))
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    scores, ids = [], []
    for first, second in PAIRS:
        encoded = tokenizer.encode(first, second)
        with torch.no_grad():
            logit = model(input_ids=torch.tensor([encoded.ids]), token_type_ids=torch.tensor([encoded.type_ids])).logits
        scores.append(float(torch.sigmoid(logit)[0, 0]))
        ids.append(len(encoded.ids))
    save(folder / "golden.json", {**versions(), "seed": SEED, "pairs": PAIRS, "scores": rounded(scores), "tokens": ids})


def roberta():
    folder, tokenizer = OUT / "tiny_roberta", roberta_tokenizer()
    config = small(transformers.XLMRobertaConfig, tokenizer.get_vocab_size(), type_vocab_size=1, pad_token_id=1)
    model = randomised(transformers.XLMRobertaModel(config, add_pooling_layer=False))
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    texts = [text for text in TEXTS if 0 < len(tokenizer.encode(text).ids) <= 100]
    vectors = []
    for text in texts:
        with torch.no_grad():
            states = model(input_ids=torch.tensor([tokenizer.encode(text).ids])).last_hidden_state
        vectors.append(rounded(states[0, 0].tolist()))
    settings = json.loads((folder / "config.json").read_text())
    settings["is_matryoshka"] = True  # so that the test can ask for fewer dimensions
    save(folder / "config.json", settings)
    save(folder / "golden.json", {**versions(), "seed": SEED, "texts": texts, "vectors": vectors})


minilm(sys.argv[1])
cross_encoder()
roberta()
