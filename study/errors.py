"""The one exception for things the user can put right."""


class UserError(Exception):
    """Bad input or surroundings: one sentence that says what is wrong, where, and what to do.

    The command line prints the sentence and exits with code 2; nothing has been half-written.
    """
