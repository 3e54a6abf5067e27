"""The exceptions for things the user can put right."""

from __future__ import annotations


class UserError(Exception):
    """Bad input or surroundings: one sentence that says what is wrong, where, and what to do.

    The command line prints the sentence and exits with code 2; nothing has been half-written.
    """


class SettingError(UserError):
    """A sound study file asks for what turns out to be impossible: `key_path` names the setting at fault."""

    def __init__(self, key_path: tuple[str, ...], sentence: str) -> None:
        super().__init__(f"'{'.'.join(key_path)}' {sentence}")
        self.key_path = key_path
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[SettingError], tuple[tuple[str, ...], str]]:
        """Travel from a worker to the driver whole."""
        return type(self), (self.key_path, self.sentence)
