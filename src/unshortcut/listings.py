"""The names of all parts of a kind, as recipes and the command line use them."""

from unshortcut.discovery import find_all


def list_augmentations() -> list[str]:
    """List the names of all augmentations."""
    from unshortcut.augmentations.augmentation import Augmentation

    return sorted(find_all("unshortcut.augmentations", Augmentation))  # type: ignore[type-abstract]


def list_losses() -> list[str]:
    """List the names of all losses."""
    from unshortcut.losses.loss import Loss

    return sorted(find_all("unshortcut.losses", Loss))  # type: ignore[type-abstract]


def list_methods() -> list[str]:
    """List the names of all pretraining methods."""
    from unshortcut.methods.method import MethodSettings

    return sorted(find_all("unshortcut.methods", MethodSettings))  # type: ignore[type-abstract]


def list_negatives() -> list[str]:
    """List the names of all sources of negatives."""
    from unshortcut.negatives.source import NegativeSettings

    return sorted(find_all("unshortcut.negatives", NegativeSettings))  # type: ignore[type-abstract]


def list_probes() -> list[str]:
    """List the names of all kinds of probes."""
    from unshortcut.probes.base import PROBES

    return sorted(find_all(PROBES.package, PROBES.base))


def list_measurements() -> list[str]:
    """List the names of all measurements of the audit, in the order of the report."""
    from unshortcut.measurements.measurement import measurements

    return list(measurements())


def list_claims() -> list[str]:
    """List the names of all claims that `reproduce` can run."""
    from unshortcut.reproduction.claim import all_claims

    return list(all_claims())
