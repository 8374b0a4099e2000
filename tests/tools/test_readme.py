"""The Python code of the READMEs runs as it stands there, and both languages show the same code."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def code(name: str, language: str) -> str:
    text = (ROOT / name).read_text()
    return "\n".join(
        re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    )


def without_comments(text: str) -> list[str]:
    return [re.sub(r"\s*#(?!include).*", "", line) for line in text.splitlines()]


def test_python_code_runs() -> None:
    reply = subprocess.run(
        [sys.executable, "-c", code("README.md", "python")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert reply.returncode == 0, reply.stderr
    product, _, benchmark = reply.stdout.partition("]]")
    assert [float(x) for x in re.findall(r"[\d.]+", product)] == [
        14,
        38,
        62,
        38,
        126,
        214,
        62,
        214,
        366,
    ]
    assert "device, data resident" in benchmark and "equal to the reference" in benchmark


def test_both_languages_show_the_same() -> None:
    english, chinese = "README.md", "README.zh-CN.md"
    for language in ("python", "cpp"):
        assert code(english, language)
        assert without_comments(code(english, language)) == without_comments(
            code(chinese, language)
        )
    commands = [
        re.findall(r"^    (?! )(\S+ \w+)", (ROOT / name).read_text(), re.M)
        for name in (english, chinese)
    ]
    assert commands[0] == commands[1] and {"./dev tour", "./dev test"} <= set(commands[0])
