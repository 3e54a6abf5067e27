"""`python -m echostudy`."""

from echostudy.cli import main

main()
