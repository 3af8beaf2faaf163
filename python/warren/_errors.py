# SPDX-License-Identifier: Apache-2.0
"""Exceptions that have no like in Python. Bad arguments raise ValueError, missing files FileNotFoundError, memory that is short MemoryError."""


class Error(RuntimeError):
    """Something that warren could not do: a device failed, or the process was forked off one that used warren. A RuntimeError, as of PyTorch."""


class VertexError(Error, IndexError, ValueError):
    """A vertex that the graph does not have: an id out of range, or an unknown name. It is an IndexError, and a ValueError too."""

    __str__ = Exception.__str__


class VerificationError(Error):
    """A result that its check found to be wrong (verify=True). The text names the first vertex or edge that is wrong."""


class TeamError(Error):
    """Another rank of the team failed first; the text is that rank's."""
