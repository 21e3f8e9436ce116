"""Errors of the export pipeline. Each is one line for a person at a terminal, and says what to do where that is known.

ExportError
|-- OptionsError              the command asks for something that does not exist
|-- SourceError               the checkpoint cannot be used
|   |-- SourceMissingError    no such folder, repository or file
|   |-- NotMaskedLmError      another kind of network, or a family that is not known here
|   |-- WeightsUnreadableError
|   |-- WeightsMissingError   the network has parameters that the file does not hold
|   |   `-- HeadMissingError  among them those of the masked-LM head
|   `-- TokenizerError        no WordPiece vocabulary, or not the one of this network
|-- ProofError                something was built, and is not what it should be: nothing is packaged
|   |-- ParityError           the graph and torch disagree
|   |-- StructureError        node counts, sizes, names or shapes
|   `-- AgreementError        the int8 answers are not those of the checkpoint
`-- WorkspaceError            the disk: full, not writable, or the output folder holds something else
"""

from __future__ import annotations

from collections.abc import Sequence


class ExportError(Exception):
    """Base of all errors of the export pipeline."""


class OptionsError(ExportError):
    """The command asks for something that does not exist."""


class SourceError(ExportError):
    """The checkpoint cannot be used."""


class SourceMissingError(SourceError):
    """No such folder, repository or file."""


class NotMaskedLmError(SourceError):
    """Another kind of network, or a family that is not known here."""


class WeightsUnreadableError(SourceError):
    """The file of weights is damaged, or its shapes are not those of the configuration."""


class WeightsMissingError(SourceError):
    """The network has parameters that the file does not hold."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__(f"the checkpoint lacks weights: {', '.join(self.names)}")


class HeadMissingError(WeightsMissingError):
    """The masked-LM head is absent; transformers would only warn and fill it with random numbers."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(names)
        self.args = (f"the checkpoint has no masked-LM head, it lacks: {', '.join(self.names)}",)


class TokenizerError(SourceError):
    """No WordPiece vocabulary, or not the one of this network."""


class ProofError(ExportError):
    """Something was built and is not what it should be; nothing is packaged.

    Args:
        failures: all of them, one sentence each.
    """

    def __init__(self, failures: Sequence[str]) -> None:
        self.failures = tuple(failures)
        super().__init__("; ".join(self.failures))


class ParityError(ProofError):
    """The graph and torch disagree by more than the tolerance."""


class StructureError(ProofError):
    """Node counts, sizes, names or shapes are not those that the configuration asks for."""


class AgreementError(ProofError):
    """The artifact's answers are not those of the checkpoint."""


class WorkspaceError(ExportError):
    """The disk is full or not writable, or the output folder holds something else."""
