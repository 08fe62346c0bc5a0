"""The program `bgai`, which `python -m bgai` is too. Imports nothing before Ctrl-C is looked after."""

import os
import signal
import sys


def main() -> int:
    """`bgai.cli.main`; Ctrl-C while all is still being imported leaves at once, with 130."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from bgai import cli, public  # noqa: F401 (an exception in the midst of this may become another one)

    signal.signal(signal.SIGINT, before)
    return cli.main()


def _leave(number: int, frame: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
