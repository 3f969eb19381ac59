#!/usr/bin/env python3
"""Renders every template with every conversation by transformers and writes what comes out to
tests/text/data/template_goldens.json: the text, for templates that the project names, else its SHA-256.

    make_template_goldens.py LLAMA_CPP_FOLDER MODEL.gguf...

Needs the packages `transformers` and `jinja2`; their versions are recorded.
"""
import copy
import datetime
import hashlib
import json
import sys
from pathlib import Path

import jinja2
import transformers
from transformers.utils import chat_template_utils

import chat_cases

IN_FULL = ("SmolLM2", "Llama-3.1", "Llama-3.2", "Qwen2.5", "Qwen3-0.6B", "gemma-2", "gemma-7b", "Mistral-Nemo", "phi-4",
           "DeepSeek-R1-Distill-Llama", "gpt-oss", "own:")
NOW = datetime.datetime(2025, 3, 9, 12, 0, 0)


class FrozenDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def render(template, case):
    arguments = {"bos_token": "<BOS>", "eos_token": "<EOS>", **case.get("kwargs", {})}
    messages = chat_template_utils._normalize_chat_messages(copy.deepcopy(case["messages"]))
    rendered, _ = chat_template_utils.render_jinja_template(
        conversations=[messages], tools=copy.deepcopy(case.get("tools")), documents=case.get("documents"),
        chat_template=template, add_generation_prompt=case.get("add_generation_prompt", True),
        continue_final_message=case.get("continue_final_message", False), **arguments)
    return rendered[0]


def outcome(name, template, case):
    try:
        text = render(template, case)
    except jinja2.exceptions.TemplateError as error:
        raised = type(error) is jinja2.exceptions.TemplateError
        return {"raises": str(error)} if raised else {"fault": type(error).__name__}
    except Exception as error:  # what a template does with a conversation it was not made for
        return {"fault": type(error).__name__}
    if any(part in name for part in IN_FULL):
        return {"text": text}
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "bytes": len(text.encode())}


def main():
    chat_template_utils.datetime = FrozenDatetime
    goldens = {}
    for name, template in chat_cases.templates(sys.argv[1], sys.argv[2:]).items():
        goldens[name] = {case: outcome(name, template, value) for case, value in chat_cases.CONVERSATIONS.items()}
    out = {"made by": "tests/text/make_template_goldens.py", "transformers": transformers.__version__,
           "jinja2": jinja2.__version__, "now": int(NOW.replace(tzinfo=datetime.timezone.utc).timestamp()),
           "goldens": goldens}
    path = Path(__file__).parent / "data" / "template_goldens.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n", "utf-8")
    print(path, len(goldens), "templates")


main()
