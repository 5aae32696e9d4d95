"""`python -m tools.cli COMMAND ...`."""

import sys

from tools.cli.main import main

sys.exit(main(sys.argv[1:]))
