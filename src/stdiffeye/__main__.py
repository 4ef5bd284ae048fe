"""`python -m stdiffeye …` is the command `stdiffeye …`."""

from stdiffeye.cli import main

main()
