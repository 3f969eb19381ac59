#!/usr/bin/env python3
"""Renders the templates and conversations of chat_cases.py and compares with the goldens that transformers made.

    compare_templates.py RENDER_CHATS LLAMA_CPP_FOLDER [MODEL.gguf...]
"""
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import chat_cases

GOLDENS = Path(__file__).parent / "data" / "template_goldens.json"
# (template, conversation) → why our answer may differ from the golden.
KNOWN = {}


def jobs(templates, goldens, now):
    for name in goldens:
        if name in templates:
            yield name, json.dumps({"template": templates[name], "bos_token": "<BOS>", "eos_token": "<EOS>", "now": now,
                                    "cases": list(chat_cases.CONVERSATIONS.values())})


def agrees(golden, ours):
    if "fault" in golden:  # where the reference breaks, a lenient answer and an error are both right
        return True
    if "raises" in golden:
        return ours.get("error") == golden["raises"]
    if "text" not in ours:
        return False
    if "text" in golden:
        return ours["text"] == golden["text"]
    return hashlib.sha256(ours["text"].encode()).hexdigest() == golden["sha256"]


def difference(golden, ours):
    if "text" not in golden or "text" not in ours:
        return f"golden {str(golden)[:200]}, ours {str(ours)[:400]}"
    a, b = golden["text"], ours["text"]
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"at {at}: golden {a[max(0, at - 30):at + 50]!r}, ours {b[max(0, at - 30):at + 50]!r}"


def main():
    program, llama_cpp, *models = sys.argv[1:]
    data = json.loads(GOLDENS.read_text("utf-8"))
    templates = chat_cases.templates(llama_cpp, [m for m in models if Path(m).exists()])
    goldens = data["goldens"]
    named = dict(jobs(templates, goldens, data["now"]))
    for name in goldens:
        if name not in named:
            print(f"skipped: {name} is not at hand (tools/fetch.py brings it)")
    answers = subprocess.run([program], input="\n".join(named.values()) + "\n", capture_output=True, text=True, check=True,
                             env={**os.environ, "TZ": "UTC"}).stdout.splitlines()
    wrong = checked = 0
    for name, line in zip(named, answers, strict=True):
        for case, ours in zip(chat_cases.CONVERSATIONS, json.loads(line), strict=True):
            checked += 1
            if agrees(goldens[name][case], ours) or (name, case) in KNOWN:
                continue
            wrong += 1
            print(f"{name} / {case}: {difference(goldens[name][case], ours)}")
    print(f"{checked} renderings of {len(named)} templates, {wrong} differ, {len(KNOWN)} known to")
    return 1 if wrong or not named else 0


sys.exit(main())
