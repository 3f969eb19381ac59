"""The templates and conversations of the chat-template test. Templates are taken from the fetched llama.cpp sources
and from model files, never copied."""
import json
import re
from pathlib import Path

import gguf_vocabulary

# In llama.cpp's tests/test-chat-template.cpp: templates that stand there as C string literals.
EMBEDDED = ["phi-4", "teknium/OpenHermes-2.5-Mistral-7B", "mistralai/Mistral-7B-Instruct-v0.2", "google/gemma-7b-it",
            "Mistral-7B-Instruct-v0.3", "Mistral-Large-Instruct-2407 (mistralai 'v3' template)",
            "mistralai/Mistral-Large-Instruct-2411 (mistralai 'v7' template)", "DeepSeek-V2"]

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Weather of a city — <today> & \"tomorrow\"",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "Name, e.g. Zürich or 東京"},
            "days": {"type": "integer", "default": 3, "minimum": 1},
            "threshold": {"type": "number", "default": 0.5, "maximum": 1e-07, "multipleOf": 2.0},
            "units": {"type": "string", "enum": ["metric", "imperial"]},
            "detailed": {"type": "boolean", "default": False}},
            "required": ["city"]}}},
    {"type": "function", "function": {
        "name": "search", "description": "", "parameters": {
            "type": "object", "properties": {"query": {"type": "string"}, "tags": {"type": "array", "items": {
                "type": "string"}}, "filter": {"type": "object", "properties": {}}}, "required": ["query", "tags"]}}},
]
CALL = {"role": "assistant", "content": "", "tool_calls": [{"id": "call12345", "type": "function", "function": {
    "name": "get_weather", "arguments": {"city": "Zürich", "days": 2, "detailed": True, "note": "a\"b\\c\n<d>"}}}]}
TWO_CALLS = {"role": "assistant", "content": "Let me look.", "tool_calls": [
    {"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "東京"}}},
    {"id": "call00002", "type": "function", "function": {"name": "search", "arguments": {
        "query": "x", "tags": ["a", "b"]}}}]}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def system(text):
    return {"role": "system", "content": text}


def tool(text, call="call12345", name="get_weather"):
    return {"role": "tool", "content": text, "tool_call_id": call, "name": name}


def parts(*texts):
    return [{"type": "text", "text": text} for text in texts]


# name → arguments of apply_chat_template
CONVERSATIONS = {
    "one user turn": {"messages": [user("Hello!")]},
    "system": {"messages": [system("You are terse."), user("Hi")]},
    "several turns": {"messages": [system("Be kind. "), user("Hi"), assistant("Hello 👋"), user("¿Qué tal? 你好"),
                                   assistant("Bien."), user("नमस्ते\n\nline")]},
    "no generation prompt": {"messages": [user("Hi"), assistant("Ho")], "add_generation_prompt": False},
    "awkward text": {"messages": [user("  leading and trailing \n"), assistant("\n\nx  "),
                                  user("{{ 7*7 }} {% if %} <|im_end|> </s> 'q' \"d\" \\ \t <b>&amp;</b>")]},
    "empty content": {"messages": [system(""), user("")]},
    "content parts": {"messages": [user(parts("first ", "second"))]},
    "tools offered": {"messages": [user("Weather?")], "tools": TOOLS},
    "tools offered with system": {"messages": [system("Sys."), user("Weather?")], "tools": TOOLS},
    "tool called": {"messages": [user("Weather?"), CALL, tool("{\"t\": 21.5}"), assistant("21.5°"), user("Thanks")],
                    "tools": TOOLS},
    "tool answer last": {"messages": [user("Weather?"), CALL, tool("rain")], "tools": TOOLS},
    "two tools called": {"messages": [user("Both"), TWO_CALLS, tool("a", "call00001"), tool("b", "call00002", "search"),
                                      user("and?")], "tools": TOOLS},
    "content null beside tool calls": {"messages": [user("Weather?"), {**CALL, "content": None}, tool("rain")],
                                       "tools": TOOLS},
    "reasoning": {"messages": [user("2+2?"), assistant("4", reasoning_content="Easy: 2+2 is 4."), user("3+3?")]},
    "reasoning in the text": {"messages": [user("2+2?"), assistant("<think>\nhm\n</think>\n\n4"), user("3+3?")]},
    "thinking off": {"messages": [user("2+2?")], "kwargs": {"enable_thinking": False, "thinking": False}},
    "continued": {"messages": [user("Sing"), assistant("La la")], "add_generation_prompt": False,
                  "continue_final_message": True},
    "continued with a space": {"messages": [user("Sing"), assistant("La la ")], "add_generation_prompt": False,
                               "continue_final_message": True},
    "two user turns": {"messages": [user("a"), user("b")]},
    "documents": {"messages": [user("What?")], "documents": [{"title": "T", "text": "Some text"}]},
}

# Constructs of Gemma 3's and other templates that no template at hand has; written for this test.
OWN = {
    "own: parts and alternation": """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set rest = messages -%}
{%- endif -%}
{%- for message in rest -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("roles must alternate user/assistant") }}
    {%- endif -%}
    {{ '[' + ('model' if message['role'] == 'assistant' else message['role']) + ']\\n'
       + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}{{ '(image)' }}{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}{{ raise_exception("Invalid content type") }}{%- endif -%}
    {{ '[end]\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '[model]\\n' }}{%- endif -%}
""",
    "own: values as Python writes them": """\
{{ none }} {{ true }} {{ [1, 2.0, 'a', none, "it's"] }} {{ {'k': [1], 'f': 0.1} }} {{ 0.5 * 3 }} {{ 7 % 4 }} {{ 2.0 | string }} {{ "<b>" | e }}
{{ messages[0].content ~ none ~ 1 ~ [1] }} {{ 'ab' * 3 }} {{ '%s' | length }} {{ undefined_thing }}|
{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + loop.index %}{% endfor %}{{ ns.n }}
{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}={{ v }};{% endfor %}
{% for m in messages if m.role == 'user' %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}{% else %}none{% endfor %}
{{ tools | tojson(indent=2) if tools else 'no tools' }}
{{ ({'é': '<&>', 'n': none, 't': true, 'l': [1.5, {}], 'e': []}) | tojson }} {{ 'é' | tojson(ensure_ascii=True) }}
{{ messages | map(attribute='role') | join('-') }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }}
{{ '  x '.strip() + 'a,b'.split(',')[1] + 'ABC'.lower() + ('abc' | upper) + ('x' if 'b' in 'abc' else 'y') }}
{{ 'hello world' | title }} {{ 'a-b' | replace('-', '+') }} {{ [3, 1, 2] | sort | join(',') }} {{ 'abc'[::-1] }} {{ (1, 2) | first }}
{% macro f(x, y='d') %}<{{ x }}{{ y }}>{% endmacro %}{{ f(1) }}{{ f(2, y='e') }}
{{ strftime_now('%Y-%m-%d') }} {{ range(3) | list }} {{ 'x' is defined }} {{ 5 is divisibleby(2) }}
{{ 'aé中'[1] }} {{ 'aé中'[1:] }} {{ 'é中' | length }} {{ 'aé中'[-1] }} {{ 'aé中'[::-1] }} {{ [1, 2, 3][1:] }} {{ [1, 2][-1] }}
{{ none | default('d') }} {{ nothing | default('d') }} {{ '' | default('d', true) }} {{ nothing | default }}|
{{ '<i>' | safe + '<b>' }} {{ '<' ~ '>' }}
""",
}


def embedded_templates(root):
    text = (root / "tests" / "test-chat-template.cpp").read_text("utf-8")
    found = {}
    for match in re.finditer(r'/\* \.name= \*/ "((?:[^"\\]|\\.)*)",\s*/\* \.template_str= \*/ ((?:"(?:[^"\\]|\\.)*"\s*)+)', text):
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"', match[2])
        try:
            found[match[1]] = "".join(json.loads(f'"{literal}"') for literal in literals)
        except ValueError:
            continue  # an escape that JSON does not share
    return {f"embedded: {name}": found[name] for name in EMBEDDED if name in found}


def templates(llama_cpp, gguf_files):
    root = Path(llama_cpp)
    found = {path.name: path.read_text("utf-8") for path in sorted((root / "models" / "templates").glob("*.jinja"))}
    found.update(embedded_templates(root))
    for path in gguf_files:
        template = gguf_vocabulary.read(path).get("tokenizer.chat_template")
        if template:
            found[Path(path).name] = template
    found.update(OWN)
    return found
