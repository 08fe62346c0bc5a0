"""Match files on disk: which format and encoding a file is in, and how much is read of it at most."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from bgai.files import write_atomically
from bgai.notation.mat import read_mat, write_mat
from bgai.notation.record import InvalidRecord, Record
from bgai.notation.sgf import read_sgf, write_sgf

MOST_BYTES = 16 * 2**20
_CHARSET = re.compile(rb"CA\[\s*([A-Za-z0-9_.:-]{1,40})\s*\]")
_CHINESE = re.compile("[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_BESIDE_LETTERS = re.compile(f"(?<=[A-Za-z]){_CHINESE.pattern}|{_CHINESE.pattern}(?=[A-Za-z])")
READERS = {"mat": read_mat, "sgf": read_sgf}
WRITERS = {"mat": write_mat, "sgf": write_sgf}


def parse_record(text: str) -> Record:
    """The record in a text, which is SGF when it begins with a bracket, else .mat. Raises InvalidRecord."""
    if not text.strip("\ufeff \t\r\n"):
        raise InvalidRecord("the file is empty")
    if "\0" in text:
        raise InvalidRecord("the file is not text; a match file is .mat or .sgf")
    return READERS["sgf" if text.lstrip("\ufeff \t\r\n").startswith("(") else "mat"](text)


def read_file(path: str | Path, say: Callable[[str], object] | None = None) -> Record:
    """The record in a .mat or SGF file; `say` is told, in a sentence, of another encoding than UTF-8. Raises OSError,
    and InvalidRecord with path and line."""
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InvalidRecord(f"{path} is larger than {MOST_BYTES // 2**20} MB; no match file is")
    text, charset = decoded(data)
    if say is not None and charset != "UTF-8":
        say(f"{path} is not UTF-8 and is read as {charset}")
    try:
        return parse_record(text)
    except InvalidRecord as error:
        raise InvalidRecord(f"{path}: {error}") from None


def decoded(data: bytes) -> tuple[str, str]:
    """The text of a match file and the encoding that it was taken to be in: UTF-8, else what an SGF file says (CA),
    else GB18030 where that makes Chinese words, else Latin-1, in which everything is some text."""
    if (text := _decoded(data, "UTF-8")) is not None:
        return text, "UTF-8"
    told = _CHARSET.search(data) if data.lstrip().startswith(b"(") else None
    if told and (text := _decoded(data, told[1].decode())) and text.lstrip().startswith("("):
        return text, told[1].decode()
    if (text := _decoded(data, "GB18030")) and _is_chinese(text):
        return text, "GB18030"
    return data.decode("latin-1"), "Latin-1"


def _decoded(data: bytes, charset: str) -> str | None:
    """None where the bytes are no text in it, or there is no such encoding."""
    try:
        return data.decode(charset)
    except (LookupError, UnicodeError):
        return None


def _is_chinese(text: str) -> bool:
    """Whether most of what is not ASCII are Chinese characters in words of their own. A Latin-1 name such as Müller
    decodes to one, too, but beside letters."""
    foreign = sum(not character.isascii() for character in text)
    apart = len(_CHINESE.findall(text)) - len(_BESIDE_LETTERS.findall(text))
    return apart > foreign / 2


def write_file(record: Record, path: str | Path, form: str) -> None:
    """Write the record as "mat" or "sgf", whole or not at all. Raises OSError."""
    write_atomically(path, WRITERS[form](record).encode())
