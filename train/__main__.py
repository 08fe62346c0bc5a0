"""`python -m train CONFIG ...` is `bgai train CONFIG ...`."""

import sys

from bgai.cli import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
