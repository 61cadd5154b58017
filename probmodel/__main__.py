"""``python -m probmodel`` is the command ``probmodel``."""

from probmodel.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
