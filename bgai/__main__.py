"""`python -m bgai ...` is `bgai ...`."""

import sys

from bgai.cli import main

if __name__ == "__main__":
    sys.exit(main())
