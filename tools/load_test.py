"""How `bgai serve` bears a crowd: clients that ask GET /move again and again, each for random positions.

Starts a server of its own on a free port (or uses --url), and prints one line: answers per second, the median and
99th percentile of the time to an answer, and the most memory the server used. Bounded in clients and seconds.

    python tools/load_test.py --clients 64 --seconds 10
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from bgai.rules.dice import rolls
from bgai.rules.moves import afterstates
from bgai.rules.outcome import points_lost_many
from bgai.rules.position import start_board

MOST_CLIENTS, MOST_SECONDS = 512, 120


def main() -> int:
    """Run it; 1 when any answer was not 200."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64, help="at once (default: 64)")
    parser.add_argument("--seconds", type=float, default=10, help="how long (default: 10)")
    parser.add_argument("--url", help="a running server, e.g. http://127.0.0.1:8080 (default: one is started)")
    args = parser.parse_args()
    if not 1 <= args.clients <= MOST_CLIENTS or not 0 < args.seconds <= MOST_SECONDS:
        parser.error(f"1 to {MOST_CLIENTS} clients and at most {MOST_SECONDS} seconds")
    questions = _questions(2000)
    with _server(args.url) as (host, port, pid):
        asyncio.run(_crowd(host, port, 1, 1.0, questions))  # everything is compiled and loaded
        times, wrong = asyncio.run(_crowd(host, port, args.clients, args.seconds, questions))
        memory = _peak_memory(pid) if pid else None
    if not times:
        print("no answers")
        return 1
    median, late = np.percentile(np.array(times) * 1000, [50, 99])
    print(
        f"{args.clients} clients, {args.seconds:g} s: {len(times) / args.seconds:,.0f} moves/s, "
        f"p50 {median:.1f} ms, p99 {late:.1f} ms, {wrong} errors" + (f", memory {memory} MB" if memory else "")
    )
    return 1 if wrong else 0


def _questions(count: int) -> list[bytes]:
    """Requests for positions of random games."""
    rng = np.random.default_rng(0)
    games = np.arange(count // 30 + 1)
    boards = np.tile(start_board(), (len(games), 1))
    asked: list[bytes] = []
    for ply in range(200):
        dice = rolls(0, games, ply)
        for men, (high, low) in zip(boards.tolist(), dice.tolist(), strict=True):
            points = "&".join(f"p{point}={n}" for point, n in enumerate(men) if n)
            asked.append(f"GET /move?die1={high}&die2={low}&{points} HTTP/1.1\r\nHost: bgai\r\n\r\n".encode())
        rows, starts = afterstates(boards, dice)
        boards = rows[rng.integers(starts[:-1], starts[1:])]
        going = points_lost_many(boards) == 0
        boards, games = boards[going], games[going]
        if not len(games):
            break
    rng.shuffle(asked)  # type: ignore[arg-type]
    return asked[:count]


async def _crowd(
    host: str, port: int, clients: int, seconds: float, questions: list[bytes]
) -> tuple[list[float], int]:
    """Times of all answers, and how many were not 200."""
    times: list[float] = []
    wrong = 0
    ends = time.perf_counter() + seconds

    async def client(number: int) -> None:
        nonlocal wrong
        reader, writer = await asyncio.open_connection(host, port)
        turn = number * 37
        while (began := time.perf_counter()) < ends:
            writer.write(questions[turn % len(questions)])
            turn += 1
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            times.append(time.perf_counter() - began)
            wrong += not head.startswith(b"HTTP/1.1 200")
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return times, wrong


@contextlib.contextmanager
def _server(url: str | None) -> Iterator[tuple[str, int, int | None]]:
    """Host, port and process of the server."""
    if url:
        parts = urlsplit(url)
        yield parts.hostname or "127.0.0.1", parts.port or 80, None
        return
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "bgai", "serve", "--port", "0"]
        environment = {**os.environ, "BGAI_HOME": home}
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                found = re.search(r"http://(\S+):(\d+)/", process.stdout.readline())
                if not found:
                    raise SystemExit("the server did not start")
                yield found[1], int(found[2]), process.pid
            finally:
                process.terminate()


def _peak_memory(pid: int) -> int | None:
    """The most memory that a process has used, in MB; None where the system does not say."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) // 1024 if found else None
    return None


if __name__ == "__main__":
    sys.exit(main())
