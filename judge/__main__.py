"""`python -m judge`."""

from judge.cli.app import main

if __name__ == "__main__":
    main()
