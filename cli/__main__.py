"""`python -m cli COMMAND ...`."""

import sys

from cli.main import main

sys.exit(main(sys.argv[1:]))
