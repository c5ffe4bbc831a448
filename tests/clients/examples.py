"""The examples of a document: its blocks of code, run against a desk one after the other."""

import re
import subprocess
from html import unescape
from typing import Any


def of_markdown(text: str) -> list[tuple[str, str]]:
    """Language and code of each fenced block that names Python or a shell."""
    return [(kind, code) for kind, code in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S) if kind]


def of_page(text: str) -> list[tuple[str, str]]:
    """The same of a page of the desk: elements that say in `data-example` what they are."""
    found = re.findall(r'<pre[^>]*data-example="(\w+)"[^>]*>\s*<code>(.*?)</code>', text, re.S)
    return [(kind, unescape(code)) for kind, code in found]


def run(blocks: list[tuple[str, str]]) -> list[str]:
    """Run them, where DESK and TOKEN are set; what the shell's ones answered. One that fails fails the test."""
    names: dict[str, Any] = {}
    answers = []
    for kind, code in blocks:
        if kind == "python":
            exec(compile(code, "example", "exec"), names)
            continue
        ended = subprocess.run(["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True)
        assert ended.returncode == 0, f"{code}\n{ended.stdout}{ended.stderr}"
        answers.append(ended.stdout)
    return answers
