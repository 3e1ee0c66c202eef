"""``python -m hyperacuity``: the command line, where the program ``hyperacuity`` is not on the path."""

from hyperacuity.cli import main

if __name__ == "__main__":
    main()
