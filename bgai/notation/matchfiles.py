"""Match files on disk: which format a file is in, and how much is read of it at most."""

from __future__ import annotations

from pathlib import Path

from bgai.files import write_atomically
from bgai.notation.mat import read_mat, write_mat
from bgai.notation.record import InvalidRecord, Record
from bgai.notation.sgf import read_sgf, write_sgf

MOST_BYTES = 16 * 2**20
READERS = {"mat": read_mat, "sgf": read_sgf}
WRITERS = {"mat": write_mat, "sgf": write_sgf}


def parse_record(text: str) -> Record:
    """The record in a text, which is SGF when it begins with a bracket, else .mat. Raises InvalidRecord."""
    if not text.strip("\ufeff \t\r\n"):
        raise InvalidRecord("the file is empty")
    if "\0" in text:
        raise InvalidRecord("the file is not text; a match file is .mat or .sgf")
    return READERS["sgf" if text.lstrip("\ufeff \t\r\n").startswith("(") else "mat"](text)


def read_file(path: str | Path) -> Record:
    """The record in a .mat or SGF file, UTF-8 or Latin-1. Raises OSError, and InvalidRecord with path and line."""
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InvalidRecord(f"{path} is larger than {MOST_BYTES // 2**20} MB; no match file is")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    try:
        return parse_record(text)
    except InvalidRecord as error:
        raise InvalidRecord(f"{path}: {error}") from None


def write_file(record: Record, path: str | Path, form: str) -> None:
    """Write the record as "mat" or "sgf", whole or not at all. Raises OSError."""
    write_atomically(path, WRITERS[form](record).encode())
