#!/usr/bin/env python3
"""Encoders as served, by the official client and over plain HTTP.

    served_test.py PAGODA
"""
import base64
import json
import math
import os
import struct
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

try:
    import openai
except ImportError:
    print("skipped: the package openai is not installed (tests/requirements.txt)")
    sys.exit(77)

from server import Server, cached_model  # noqa: E402

PAGODA = sys.argv.pop(1) if len(sys.argv) > 1 else "pagoda"
MINILM = cached_model("all-MiniLM-L6-v2")
GENERATOR = cached_model("SmolLM2-135M-Instruct.Q4_1.gguf")


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def length(vector):
    return math.sqrt(sum(x * x for x in vector))


def post(server, path, body):
    request = urllib.request.Request(server.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class Served(unittest.TestCase):
    MODEL = None

    @classmethod
    def setUpClass(cls):
        if cls.MODEL is None:
            raise unittest.SkipTest("no model")
        cls.server = Server([PAGODA, "serve", str(cls.MODEL), "--served-model-name", "m"])
        cls.server.__enter__()
        cls.client = openai.OpenAI(base_url=cls.server.url + "/v1", api_key="x", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def refused(self, path, body, *words, status=400):
        code, answer = post(self.server, path, body)
        self.assertEqual(code, status, answer)
        self.assertEqual(answer["error"]["code"], status)
        self.assertEqual(answer["error"]["type"], "BadRequestError")
        for word in words:
            self.assertIn(word, answer["error"]["message"])


class MiniLm(Served):
    MODEL = MINILM
    golden = json.loads((HERE / "data" / "minilm.json").read_text("utf-8"))

    def test_vectors_are_those_of_sentence_transformers(self):
        # sentence-transformers cuts at the model's length; here that must be asked for.
        answer = self.client.embeddings.create(model="m", input=self.golden["texts"], encoding_format="float",
                                               extra_body={"truncate_prompt_tokens": -1})
        self.assertEqual([entry.index for entry in answer.data], list(range(len(self.golden["texts"]))))
        worst = min(cosine(entry.embedding, wanted) for entry, wanted in zip(answer.data, self.golden["vectors"]))
        print(f"least cosine to sentence-transformers: {worst:.8f}")
        self.assertGreaterEqual(worst, 0.9999)
        for entry in answer.data:
            self.assertAlmostEqual(length(entry.embedding), 1, places=5)

    def test_a_text_alone_and_in_a_batch_are_the_same_numbers(self):
        texts = self.golden["texts"][:8]
        batch = self.client.embeddings.create(model="m", input=texts, encoding_format="float")
        for text, entry in zip(texts, batch.data):
            alone = self.client.embeddings.create(model="m", input=text, encoding_format="float")
            self.assertEqual(alone.data[0].embedding, entry.embedding)

    def test_base64_is_what_the_client_asks_for_by_itself(self):
        text = self.golden["texts"][0]
        by_client = self.client.embeddings.create(model="m", input=text).data[0].embedding
        _, raw = post(self.server, "/v1/embeddings", {"model": "m", "input": text, "encoding_format": "base64"})
        data = base64.b64decode(raw["data"][0]["embedding"], validate=True)
        self.assertEqual(list(struct.unpack(f"<{len(data) // 4}f", data)), list(by_client))
        self.assertEqual(len(by_client), 384)

    def test_token_arrays_and_usage(self):
        text = "How do I reset my password?"
        _, tokens = post(self.server, "/tokenize", {"model": "m", "prompt": text})
        self.assertEqual(tokens["tokens"], [101, 2129, 2079, 1045, 25141, 2026, 20786, 1029, 102])
        wanted = self.client.embeddings.create(model="m", input=text, encoding_format="float")
        for value in (tokens["tokens"], [tokens["tokens"]]):
            answer = self.client.embeddings.create(model="m", input=value, encoding_format="float")
            self.assertEqual(answer.data[0].embedding, wanted.data[0].embedding)
        two = self.client.embeddings.create(model="m", input=[text, "x"], encoding_format="float")
        self.assertEqual((wanted.usage.prompt_tokens, wanted.usage.total_tokens), (9, 9))
        self.assertEqual(two.usage.prompt_tokens, 12)
        self.assertEqual((two.object, two.model), ("list", "m"))

    def test_what_does_not_fit_or_is_wrong_is_refused(self):
        long = "word " * 400
        self.refused("/v1/embeddings", {"model": "m", "input": long}, "256 tokens", "402 tokens")
        code, answer = post(self.server, "/v1/embeddings", {"model": "m", "input": long, "truncate_prompt_tokens": 20})
        self.assertEqual((code, answer["usage"]["prompt_tokens"]), (200, 20))
        self.refused("/v1/embeddings", {"model": "m", "input": "a", "truncate_prompt_tokens": 1000}, "1000", "256")
        self.refused("/v1/embeddings", {"model": "m", "input": "a", "dimensions": 100}, "matryoshka")
        self.refused("/v1/embeddings", {"model": "m", "input": "a", "encoding_format": "hex"}, "base64")
        self.refused("/v1/embeddings", {"model": "m"}, "input is required")
        self.refused("/v1/embeddings", {"model": "m", "input": []}, "empty")
        self.refused("/v1/embeddings", {"model": "m", "input": [[1, 99999999]]}, "99999999")
        self.refused("/v1/embeddings", {"model": "m", "input": [{"a": 1}]}, "an object")
        code, answer = post(self.server, "/v1/embeddings", {"model": "other", "input": "a"})
        self.assertEqual((code, answer["error"]["type"]), (404, "NotFoundError"))

    def test_generating_is_refused(self):
        self.refused("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "a"}]},
                     "The model does not support Chat Completions API")
        self.refused("/v1/completions", {"model": "m", "prompt": "a"}, "The model does not support Completions API")
        with self.assertRaises(openai.BadRequestError):
            self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": "a"}])

    def test_scores_are_cosines(self):
        texts, vectors = self.golden["texts"], self.golden["vectors"]
        code, answer = post(self.server, "/v1/score", {"model": "m", "text_1": texts[18], "text_2": [texts[19], texts[0]]})
        self.assertEqual(code, 200, answer)
        for entry, other in zip(answer["data"], (19, 0)):
            self.assertAlmostEqual(entry["score"], cosine(vectors[18], vectors[other]), places=4)
        code, answer = post(self.server, "/score", {"model": "m", "queries": texts[:2], "documents": texts[:2]})
        self.assertEqual(code, 200, answer)
        for entry in answer["data"]:
            self.assertAlmostEqual(entry["score"], 1, places=5)
        self.refused("/score", {"model": "m", "text_1": texts[:2], "text_2": texts[:3]}, "2 and 3")

    def test_rerank_puts_the_best_first(self):
        documents = [self.golden["texts"][i] for i in (0, 19, 2, 1)]
        for path in ("/v1/rerank", "/rerank", "/v2/rerank"):
            code, answer = post(self.server, path, {"model": "m", "query": "capital of France", "documents": documents})
            self.assertEqual(code, 200, answer)
            scores = [entry["relevance_score"] for entry in answer["results"]]
            self.assertEqual(scores, sorted(scores, reverse=True))
            self.assertEqual((answer["results"][0]["index"], answer["results"][0]["document"]["text"]), (1, documents[1]))
        code, answer = post(self.server, "/rerank", {"model": "m", "query": "q", "documents": documents, "top_n": 2})
        self.assertEqual(len(answer["results"]), 2)
        self.refused("/rerank", {"model": "m", "documents": documents}, "query is required")

    def test_the_front_is_that_of_every_model(self):
        card = self.client.models.list().data[0]
        self.assertEqual((card.id, card.max_model_len), ("m", 256))
        with urllib.request.urlopen(self.server.url + "/metrics", timeout=10) as answer:
            self.assertIn("vllm:num_requests_running", answer.read().decode())
        with urllib.request.urlopen(self.server.url + "/health", timeout=10) as answer:
            self.assertEqual(answer.status, 200)


class CrossEncoder(Served):
    MODEL = HERE / "data" / "tiny_cross_encoder"

    def test_scores_are_those_of_transformers(self):
        golden = json.loads((self.MODEL / "golden.json").read_text("utf-8"))
        for (first, second), wanted, tokens in zip(golden["pairs"], golden["scores"], golden["tokens"]):
            code, answer = post(self.server, "/v1/score", {"model": "m", "text_1": first, "text_2": second})
            self.assertEqual(code, 200, answer)
            self.assertAlmostEqual(answer["data"][0]["score"], wanted, places=5, msg=(first, second))
            self.assertEqual(answer["usage"]["prompt_tokens"], tokens)
        query = [pair for pair in golden["pairs"] if pair[0] == golden["pairs"][0][0]]
        code, answer = post(self.server, "/v1/rerank", {"model": "m", "query": query[0][0],
                                                        "documents": [pair[1] for pair in query]})
        best = max(range(len(query)), key=lambda i: golden["scores"][i])
        self.assertEqual(answer["results"][0]["index"], best)

    def test_vectors_are_refused(self):
        self.refused("/v1/embeddings", {"model": "m", "input": "a"}, "does not support Embeddings API")


class Roberta(Served):
    MODEL = HERE / "data" / "tiny_roberta"

    def test_vectors_are_those_of_transformers(self):
        golden = json.loads((self.MODEL / "golden.json").read_text("utf-8"))
        answer = self.client.embeddings.create(model="m", input=golden["texts"], encoding_format="float")
        for text, entry, wanted in zip(golden["texts"], answer.data, golden["vectors"]):
            most = max(abs(x - y) for x, y in zip(entry.embedding, wanted))
            self.assertLessEqual(most, 1e-4, text)

    def test_fewer_dimensions(self):
        whole = self.client.embeddings.create(model="m", input="a dog", encoding_format="float").data[0].embedding
        part = self.client.embeddings.create(model="m", input="a dog", encoding_format="float", dimensions=16).data[0].embedding
        self.assertEqual(part, whole[:16])
        unit = self.client.embeddings.create(model="m", input="a dog", encoding_format="float", dimensions=16,
                                             extra_body={"normalize": True}).data[0].embedding
        self.assertAlmostEqual(length(unit), 1, places=5)
        self.refused("/v1/embeddings", {"model": "m", "input": "a", "dimensions": 65}, "64")


class Generator(Served):
    MODEL = GENERATOR

    def test_vectors_and_scores_are_refused(self):
        self.refused("/v1/embeddings", {"model": "m", "input": "a"}, "The model does not support Embeddings API")
        self.refused("/v1/score", {"model": "m", "text_1": "a", "text_2": "b"}, "The model does not support Score API")
        self.refused("/v1/rerank", {"model": "m", "query": "a", "documents": ["b"]}, "The model does not support Rerank API")
        with self.assertRaises(openai.BadRequestError):
            self.client.embeddings.create(model="m", input="a")

    def test_the_runner_flag_is_not_ignored(self):
        done = subprocess.run([PAGODA, "serve", self.MODEL, "--task", "embed", "--port", "0"], capture_output=True, text=True,
                              timeout=60, check=False, env=os.environ)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--runner pooling is for encoders", done.stderr)


unittest.main(verbosity=1)
