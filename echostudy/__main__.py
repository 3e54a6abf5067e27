"""`python -m echostudy`."""

from echostudy.cli import main

if __name__ == "__main__":
    main()
