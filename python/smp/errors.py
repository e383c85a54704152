# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one error a user of the export sees."""


class ExportError(Exception):
    """What went wrong in one sentence, and a note with the repair."""

    def __init__(self, message: str, note: str = ""):
        super().__init__(message)
        self.message = message
        self.note = note

    def __str__(self) -> str:
        return f"{self.message}\nnote: {self.note}" if self.note else self.message
