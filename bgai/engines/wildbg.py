"""A server with wildbg's HTTP API as a bot; bgai's own such server is `bgai/frontends/http/wildbg.py`."""

from __future__ import annotations

import http.client
import json
import time
import weakref
from urllib.parse import SplitResult, urlencode, urlsplit

import numpy as np

from bgai.bots import UnknownBot
from bgai.engines.engine import MOST_TEXT, SECONDS, EngineBot, Gone, NoAnswer, short
from bgai.evaluation.cube import Stakes
from bgai.rules.position import BAR, Position


class HttpBot(EngineBot):
    """A server that answers GET /move as wildbg does. It is told the score, knows no cube and always takes."""

    def __init__(self, url: str, *, seconds: float = SECONDS) -> None:
        self.name, self.seconds = url, seconds
        self.description = f"the server at {url}, asked by wildbg's HTTP API"
        try:
            self._url: SplitResult = urlsplit(url)
            port = self._url.port
        except ValueError as error:
            raise UnknownBot(f"{url}: {error}") from None
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise UnknownBot(f"{url} is no address of a server; write it as http://localhost:8080")
        kind = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(self._url.hostname, port, timeout=seconds)
        weakref.finalize(self, self._connection.close)
        try:
            self._after(Position.start().board, (3, 1), None)
        except NoAnswer as why:
            raise UnknownBot(f"{url} {why}") from None

    def _after(self, board: np.ndarray, dice: tuple[int, int], stakes: Stakes | None) -> str:
        away = (0, 0) if stakes is None else (int(stakes.my_away[0]), int(stakes.their_away[0]))
        words = {"die1": dice[0], "die2": dice[1], "x_away": away[0], "o_away": away[1]}
        words |= {f"p{point}": men for point, men in enumerate(board.tolist()) if men}
        text = self._get(f"{self._url.path.rstrip('/')}/move?{urlencode(words)}")
        try:
            steps = [(step["from"], step["to"]) for step in json.loads(text)["moves"][0]["play"]]
            whole = all(isinstance(point, int) and 0 <= point <= BAR for step in steps for point in step)
        except (ValueError, LookupError, TypeError, RecursionError):
            whole = False
        if not whole:
            raise NoAnswer(f"answered {short(text)}, which is not wildbg's answer to GET /move")
        return " ".join(f"{start}/{end}" for start, end in steps)

    def _get(self, path: str) -> str:
        end = time.monotonic() + self.seconds
        for again in (True, False):
            try:
                fresh = self._connection.sock is None
                self._connection.request("GET", path)
                response = self._connection.getresponse()
                body = self._body(response, end)
                if response.status != http.client.OK:
                    raise NoAnswer(f"answered with status {response.status}: {short(body)}")
                return body
            except TimeoutError:
                self._connection.close()
                raise Gone(f"did not answer within {self.seconds:g} s") from None
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if fresh or not again:  # a connection that was kept open may have been closed in between
                    raise Gone(f"does not answer ({str(error) or type(error).__name__})") from None
        raise AssertionError("not reached")

    def _body(self, response: http.client.HTTPResponse, end: float) -> str:
        body = b""
        while part := response.read1(65536):
            body += part
            if len(body) > MOST_TEXT or time.monotonic() > end:
                raise TimeoutError
        response.close()  # so that the connection can be used again
        return body.decode(errors="replace")
