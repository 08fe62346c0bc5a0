"""GNU Backgammon's own program as a bot that knows cube and score, asked through the Python inside it.

`gnubg` (Debian: apt-get install gnubg) is started once and answers over a socket on this machine. Its plays are
checked against bgai's own, as those of every referee. Knows nothing of bgai's networks.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bgai.bots import Bot, UnknownBot
from bgai.evaluation.cube import MINE, THEIRS, Stakes
from bgai.evaluation.cubeful import wants_double, wants_take
from bgai.referees import MissingReferee, RefereeError, checked_choices, gnubg_boards, moved
from bgai.rules.position import turn

PLIES = (0, 1, 2)
_START_SECONDS = 60.0
_ANSWER_SECONDS = 600.0

# Runs inside gnubg. A request is a line of JSON: plies, jacoby, and positions [board, cube info, dice or null].
_INSIDE = """
import gnubg, json, socket
link = socket.create_connection(('127.0.0.1', {port}))
lines = link.makefile('rw')
lines.write('{secret}\\n'); lines.flush()
gnubg.command('set beavers 0')
jacoby = None
for line in lines:
    request = json.loads(line)
    if request['jacoby'] != jacoby:
        jacoby = request['jacoby']
        gnubg.command('set jacoby ' + ('on' if jacoby else 'off'))
    context = {{'cubeful': 1, 'plies': request['plies'], 'deterministic': 1, 'noise': 0.0, 'prune': 1}}
    answers = []
    for board, info, dice in request['asked']:
        cube, owner, length, score, crawford = info
        info = gnubg.cubeinfo(cube, owner, 0, length, tuple(score), crawford)
        board = tuple(tuple(side) for side in board)
        if dice:
            answers.append(gnubg.findbestmove(board, info, context, tuple(dice)))
        else:
            answers.append(gnubg.cfevaluate(board, info, context)[1:4])
    lines.write(json.dumps(answers) + '\\n'); lines.flush()
"""


class GnubgProgramBot(Bot):
    """gnubg at `plies` as it counts them, plays and cube actions both cubeful and at the score."""

    def __init__(self, plies: int) -> None:
        if plies not in PLIES:
            raise UnknownBot(f"gnubg-program looks 0, 1 or 2 plies ahead, not {plies}")
        program = shutil.which("gnubg") or shutil.which("/usr/games/gnubg")
        if program is None:
            raise MissingReferee("gnubg-program needs the program gnubg: apt-get install gnubg")
        self.name = f"gnubg-program:{plies}"
        self.description = f"GNU Backgammon's program at {plies} plies, with cube and score"
        self._plies = plies
        self._process, self._link, self._lines = _started(program)

    def choose_boards(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        """See Bot; as in money games whose cube nobody can turn any more."""
        ended = Stakes.money(len(boards))._replace(owner=np.full(len(boards), THEIRS), cube=np.full(len(boards), 2))
        return self.choose_at(boards, dice, ended)

    def choose_at(self, boards: np.ndarray, dice: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot."""
        after = []
        for men, flat in zip(boards.tolist(), self._asked(boards, stakes, dice.tolist()), strict=True):
            steps = [step for step in zip(flat[::2], flat[1::2], strict=True) if step[0]]  # unused ones are zero
            after.append(moved(men, steps))
        return checked_choices(self.name, boards, dice, turn(np.array(after, dtype=np.int8).reshape(boards.shape)))

    def doubles(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot."""
        return wants_double(self.cube_values(boards, stakes))

    def takes(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """See Bot."""
        return wants_take(self.cube_values(boards, stakes))

    def cube_values(self, boards: np.ndarray, stakes: Stakes) -> np.ndarray:
        """gnubg's no double, double and take, double and pass for the player on roll -> [B, 3], per unit of the cube
        (at a score on that scale)."""
        return np.array(self._asked(boards, stakes, [None] * len(boards)), dtype=np.float64).reshape(-1, 3)

    def _asked(self, boards: np.ndarray, stakes: Stakes, dice: list[Any]) -> list[Any]:
        if not len(boards):
            return []
        # gnubg counts scores, not points to go; of more than it needs to know the difference is all that matters.
        length = np.maximum(stakes.my_away, stakes.their_away)
        owner = np.where(stakes.owner == MINE, 0, np.where(stakes.owner == THEIRS, 1, -1))
        infos = [
            [int(cube), int(own), int(long), [int(long - mine), int(long - theirs)], int(crawford)]
            for cube, own, long, mine, theirs, crawford in zip(
                stakes.cube, owner, length, stakes.my_away, stakes.their_away, stakes.crawford, strict=True
            )
        ]
        request = {
            "plies": self._plies,
            "jacoby": bool(stakes.jacoby.any()),
            "asked": list(zip(gnubg_boards(boards), infos, dice, strict=True)),
        }
        try:
            self._lines.write(json.dumps(request) + "\n")
            self._lines.flush()
            answer = self._lines.readline()
        except OSError as error:
            raise RefereeError(f"{self.name} does not answer: {error}") from None
        if not answer:
            raise RefereeError(f"{self.name} has ended (exit code {self._process.poll()})")
        found: list[Any] = json.loads(answer)
        return found

    def close(self) -> None:
        """End the program."""
        with contextlib.suppress(OSError):
            self._lines.close()
        self._link.close()
        self._process.kill()
        self._process.wait()

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self.close()


def _started(program: str) -> tuple[subprocess.Popen[bytes], socket.socket, Any]:
    """The program with our script running in it, and the link to that with its two-way text stream."""
    with socket.create_server(("127.0.0.1", 0)) as server, tempfile.TemporaryDirectory() as folder:
        server.settimeout(_START_SECONDS)
        secret = Path(folder).name
        script = Path(folder) / "inside.py"
        script.write_text(_INSIDE.format(port=server.getsockname()[1], secret=secret))
        quiet = subprocess.DEVNULL
        process = subprocess.Popen([program, "-t", "-q", "-p", str(script)], stdin=quiet, stdout=quiet, stderr=quiet)
        try:
            link, _ = server.accept()
            link.settimeout(_ANSWER_SECONDS)
            lines = link.makefile("rw")
            if lines.readline().strip() != secret:
                raise OSError("somebody else has connected")
        except OSError as error:
            process.kill()
            process.wait()
            raise RefereeError(f"gnubg did not start as a referee: {error}") from None
        return process, link, lines
