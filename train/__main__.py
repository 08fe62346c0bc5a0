"""`python -m train CONFIG ...` is `bgai train CONFIG ...`."""

import sys

from bgai.__main__ import main

if __name__ == "__main__":
    sys.argv.insert(1, "train")
    sys.exit(main())
