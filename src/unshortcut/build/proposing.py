"""The function behind `unshortcut propose`: boxes of objects for any data set."""

from pathlib import Path
from typing import Any

from rich.console import Console

from unshortcut.build.destination import Writer, check_destination
from unshortcut.build.inputs import Shards, Tree, open_inputs
from unshortcut.build.manifest import Manifest
from unshortcut.build.proposal_job import ProposalJob
from unshortcut.build.proposer import Proposer, make_proposer
from unshortcut.build.run import BuildResult, Engine, choose_engine, execute
from unshortcut.data.failures import Failure
from unshortcut.data.naming import Data
from unshortcut.data.open import open_data
from unshortcut.data.proposals import FILE, WithProposals
from unshortcut.errors import UsageError
from unshortcut.parts import part_to_mapping
from unshortcut.result import public_name
from unshortcut.views.annotation_sheet import data_sheet

SHEET = "sheet.png"


def propose(
    source: Data,
    destination: str | Path,
    method: str | Proposer = "selective_search",
    *,
    most: int = 10,
    workers: int | None = None,
    engine: Engine = "local",
    address: str | None = None,
    console: Console | None = None,
    **settings: Any,
) -> BuildResult:
    """Propose boxes of objects in every image, without labels.

    Args:
        source: a folder, a tar file, shards or a name; all splits unless one is named.
        destination: output folder, with `proposals.csv` and a sheet of images with their boxes. The
            same call continues a run that was interrupted, to the same file.
        method: name of a proposer, or a `Proposer` of your own.
        most: largest number of boxes of an image.
        workers, engine, address: as in `filter_data`.
        settings: settings of the method, e.g. `model="runs/first"` of `features`.

    Raises:
        UsageError: the request is wrong; nothing has been written.
        RunError: the run ended early.
    """
    if isinstance(method, Proposer) and settings:
        raise UsageError("settings can only be given with the name of a method")
    if most < 1:
        raise UsageError(f"most must be at least 1, not {most}")
    proposer = method if isinstance(method, Proposer) else make_proposer(method, settings)
    run_units = choose_engine(engine, workers, address)
    folder = Path(destination).expanduser().absolute()
    inputs = open_inputs(source)
    tree = Tree(inputs.name, open_data(source)) if isinstance(inputs, Shards) else inputs
    check_destination(folder, tree.disk_paths())
    job = ProposalJob(tree, proposer, most, Writer(folder))
    job.check()
    parameters = {"operation": _parameters(proposer), "most": most}
    manifest = Manifest(folder, "propose", tree.name, parameters)
    manifest.check()
    if manifest.finished and (folder / FILE).is_file():
        made = _earlier(folder, manifest)
    else:
        made = execute(job, "propose", tree.name, parameters, run_units, console)
    if not (folder / SHEET).is_file():
        job.writer.start()
        with job.writer.open(SHEET) as path:
            data_sheet(WithProposals(tree, folder / FILE, most)).save(path, format="png")
        job.writer.clean_up()
    job.remove_parts()
    return made


def _parameters(proposer: Proposer) -> dict[str, Any]:
    stated = part_to_mapping(proposer)
    public = {k: public_name(v) if isinstance(v, str) else v for k, v in stated.items()}
    return {**public, **proposer.identity()}


def _earlier(folder: Path, manifest: Manifest) -> BuildResult:
    """What a finished run has made."""
    assert manifest.before is not None
    counts, listed = manifest.before["counts"], manifest.before["failures"]
    failures = tuple(Failure(one["path"], one["reason"]) for one in listed)
    return BuildResult(folder, 0, int(counts["made"]), failures, 0.0)
