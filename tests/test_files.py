"""Files that are replaced as a whole, and locks that end with the process that holds them."""

import errno
import subprocess
import sys
import time

import pytest

from bgai.files import InUse, locked, remove_leftovers, write_atomically


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "bot"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "bot"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "missing" / "bot"
    with pytest.raises(FileNotFoundError) as failed:
        write_atomically(path, b"new")
    assert failed.value.filename == str(path)


def test_an_error_of_a_full_disk_names_the_file_too(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left on device") as failed:
        write_atomically(tmp_path / "bot", b"new")
    assert failed.value.filename == str(tmp_path / "bot")


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_atomically(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"


HOLD = """
import sys, time
from pathlib import Path
from bgai.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_held_by_one_process_and_dies_with_it(tmp_path):
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(InUse, match=str(path)), locked(path):
            pass
        process.kill()
        process.wait()
        assert path.exists()  # the killed process could not remove it
        with locked(path):
            pass
    assert not path.exists()


def test_a_lock_is_free_again_after_an_error(tmp_path):
    path = tmp_path / "lock"
    with pytest.raises(ZeroDivisionError), locked(path):
        with pytest.raises(InUse), locked(path):
            pass
        raise ZeroDivisionError
    with locked(path):
        assert path.exists()
    assert list(tmp_path.iterdir()) == []


COUNT = """
import sys
from pathlib import Path
from bgai.files import InUse, locked
counter, done = Path(sys.argv[1]), 0
while done < 200:
    try:
        with locked(counter.with_suffix(".lock")):
            counter.write_text(str(int(counter.read_text()) + 1))
            done += 1
    except InUse:
        pass
"""


def test_locks_that_come_and_go_never_let_two_in(tmp_path):
    counter = tmp_path / "counter"
    counter.write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", COUNT, str(counter)]) for _ in range(3)]
    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0]
    assert counter.read_text() == "600"


def test_leftovers_of_killed_writes_are_removed_and_nothing_else(tmp_path):
    kept = ["notes.tmp", ".notes.tmp", ".config.toml.swp", "bot.safetensors", "a.12345678.tmp"]
    (tmp_path / "bots").mkdir()
    for name in [*kept, ".config.toml.0a1b2c3d.tmp", "bots/.strong.safetensors.01234567.tmp"]:
        (tmp_path / name).write_text("x")
    remove_leftovers(list(tmp_path.rglob("*")))
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted([*kept, "bots"])


WRITE = """
import sys
from bgai.files import write_atomically
while True:
    write_atomically(sys.argv[1], bytes(20_000_000))
"""


def test_a_write_that_is_killed_leaves_what_is_then_removed(tmp_path):
    path = tmp_path / "bot"
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", WRITE, str(path)]) as process:
            deadline = time.monotonic() + 30
            while not list(tmp_path.glob(".*.tmp")):
                assert time.monotonic() < deadline and process.poll() is None
            process.kill()
        if list(tmp_path.glob(".*.tmp")):
            break
    else:
        pytest.skip("it was never killed while writing")
    remove_leftovers(list(tmp_path.iterdir()))
    assert list(tmp_path.iterdir()) in ([], [path])
