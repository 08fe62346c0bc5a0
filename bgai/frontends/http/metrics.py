"""Counts of requests and how long they took, in Prometheus' text format. Knows no HTTP."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends in seconds; the last bucket has none."""


class Metrics:
    """Safe to use from several threads. A path is the pattern of a route, so there are few."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._latencies: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self.running = 0
        """Requests that are being answered."""

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        with self._lock:
            self._requests[method, path, status] += 1
            buckets = self._latencies.setdefault(path, [0] * (len(BUCKETS) + 1))
            buckets[bisect_left(BUCKETS, seconds)] += 1
            self._seconds[path] += seconds  # type: ignore[assignment]

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        with self._lock:
            lines = [
                "# HELP bgai_requests_total Requests answered.",
                "# TYPE bgai_requests_total counter",
            ]
            for (method, path, status), count in sorted(self._requests.items()):
                lines.append(f'bgai_requests_total{{method="{method}",path="{path}",status="{status}"}} {count}')
            lines += [
                "# HELP bgai_request_seconds Time from the request to the end of its answer.",
                "# TYPE bgai_request_seconds histogram",
            ]
            for path, buckets in sorted(self._latencies.items()):
                total = 0
                for end, count in zip((*BUCKETS, "+Inf"), buckets, strict=True):
                    total += count
                    lines.append(f'bgai_request_seconds_bucket{{path="{path}",le="{end}"}} {total}')
                lines.append(f'bgai_request_seconds_sum{{path="{path}"}} {self._seconds[path]:.6f}')
                lines.append(f'bgai_request_seconds_count{{path="{path}"}} {total}')
            lines += [
                "# HELP bgai_requests_running Requests being answered.",
                "# TYPE bgai_requests_running gauge",
                f"bgai_requests_running {self.running}",
            ]
        return "\n".join(lines) + "\n"
