"""The READMEs: their Python runs, their commands are accepted, what they point at is there."""

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest

from bgai.cli import COMMANDS

HOUSE = Path(__file__).resolve().parent.parent
READMES = ["README.md", "README.zh-CN.md"]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text(readme: str) -> str:
    return (HOUSE / readme).read_text(encoding="utf-8")


def blocks(readme: str, *languages: str) -> list[str]:
    return [body for language, body in FENCE.findall(text(readme)) if language in languages]


def command_lines(readme: str, program: str) -> list[list[str]]:
    """The words of every shell command that begins with `program`, also after && and before a pipe."""
    found = []
    for block in blocks(readme, "sh", "bash", "console", "shell"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            while words:
                length = next((i for i, word in enumerate(words) if word in ("&&", "||", "|", ";", ">")), len(words))
                if words[:1] == [program]:
                    found.append(words[1:length])
                words = words[length + 1 :]
    return found


@pytest.mark.parametrize("readme", READMES)
def test_python_blocks_run(readme, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = blocks(readme, "python")
    assert found
    for number, block in enumerate(found, start=1):
        exec(compile(block, f"{readme}, Python block {number}", "exec"), {"__name__": "__main__"})
        # What a line is said to print, in a comment behind the print, it does print.
        printed = capsys.readouterr().out.splitlines()
        for said in re.findall(r"^print\(.*\) +# ([^#\n]*\d/[^#\n]*)$", block, re.MULTILINE):
            assert said.strip() in printed


@pytest.mark.parametrize("readme", READMES)
def test_commands_are_accepted(readme, capsys):
    parser = argparse.ArgumentParser(prog="bgai")
    parser.add_argument("--version", action="version", version="")
    subparsers = parser.add_subparsers(required=True)
    for module, function, _ in COMMANDS.values():
        getattr(importlib.import_module(module), function)(subparsers)
    found = command_lines(readme, "bgai")
    assert found
    for words in found:
        try:
            parser.parse_args(words)
        except SystemExit as left:
            assert left.code == 0, f"{readme}: bgai {shlex.join(words)}: {capsys.readouterr().err}"


@pytest.mark.parametrize("readme", READMES)
def test_commands_mean_the_same_to_every_shell(readme):
    for block in blocks(readme, "sh", "bash", "console", "shell"):
        for line in block.splitlines():
            bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", line.partition(" # ")[0])
            assert not re.search(r"[\[\]*?]", bare), f"{readme}: put quotes around the brackets in: {line}"


@pytest.mark.parametrize("readme", READMES)
def test_targets_of_make_exist(readme):
    targets = set(re.findall(r"^([a-z-]+):", (HOUSE / "Makefile").read_text(), re.MULTILINE))
    for words in command_lines(readme, "make"):
        assert {word for word in words if "=" not in word and not word.startswith("-")} <= targets


@pytest.mark.parametrize("readme", [*READMES, "docs/architecture.md"])
def test_links_lead_to_files(readme):
    for link in re.findall(r"\]\(([^)\s]+)\)", text(readme)):
        if "://" not in link and not link.startswith("#"):
            assert ((HOUSE / readme).parent / link.partition("#")[0]).exists(), f"{readme}: {link} is not there"


@pytest.mark.parametrize("readme", READMES)
def test_pictures_are_light(readme):
    pictures = re.findall(r"!\[[^\]]+\]\(([^)\s]+)\)", text(readme))
    assert "docs/page.png" in pictures
    for picture in pictures:
        assert "://" in picture or (HOUSE / picture).stat().st_size < 150_000, picture


@pytest.mark.parametrize("document", [*READMES, "docs/architecture.md", "docs/frontends.md"])
def test_environment_variables_are_those_that_the_code_reads(document):
    code = "".join(path.read_text(encoding="utf-8") for path in (HOUSE / "bgai").rglob("*.py"))
    read = set(re.findall(r'environ(?:ment)?(?:\.get\(|\[)"(BGAI_\w+)"', code))
    assert {"BGAI_HOME", "BGAI_ENGINE_SECONDS"} <= read
    assert set(re.findall(r"BGAI_\w+", (HOUSE / document).read_text(encoding="utf-8"))) <= read


@pytest.mark.parametrize("readme", READMES)
def test_nothing_is_left_to_fill_in(readme):
    assert re.findall(r"@[A-Z_]+@|TODO|TBD|XXX", text(readme)) == []
