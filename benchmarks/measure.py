"""One configuration in this process; one line of JSON on standard output. `run.py` starts it.

measure.py probe                            the interpreter, and the peers that are installed for it
measure.py prepare WORKLOAD FOLDER          writes the workload's files
measure.py time WORKLOAD FOLDER PEER COUNT  times the peer with COUNT workers
"""

import gc
import json
import platform
import sys
import sysconfig
import time
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import adapters

BATCH_SIZE = 32


def installed(requires: str | None) -> str | None:
    """Version of a distribution; None where it is missing, '' where none is needed or it is only on the path."""
    if requires is None:
        return ""
    if find_spec(requires.replace("-", "_")) is None:
        return None
    try:
        return metadata.version(requires)
    except metadata.PackageNotFoundError:
        return ""


def probe() -> dict[str, Any]:
    """What `run.py` has to know of this interpreter."""
    peers = {name: adapters.load(name) for name in adapters.NAMES}
    return {
        "python": platform.python_version(),
        "gil_free": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "peers": {name: installed(peer.REQUIRES) for name, peer in peers.items()},
        "workers": {name: peer.WORKERS for name, peer in peers.items()},
    }


def measure(workload_name: str, folder: Path, peer: str, workers: int) -> dict[str, Any]:
    """Seconds of the first batch and of every epoch, and the CPU seconds of this process's threads in it.

    The clock of the first batch begins before the loader is made; imports are outside it. An epoch's clock runs from
    `iter()` to the end, and one epoch counts samples, to be sure that none is missing.

    Raises:
        RuntimeError: the peer gave a wrong number of samples, or the interpreter's lock came back.
    """
    workload = import_module(f"workloads.{workload_name}")
    dataset = workload.dataset(folder)
    adapter = adapters.load(peer)
    peer_loader = adapter.loader
    peer_loader(dataset, workload.collate, BATCH_SIZE, adapter.WORKERS[0])  # for its imports
    if sysconfig.get_config_var("Py_GIL_DISABLED") and sys._is_gil_enabled():
        raise RuntimeError(f"importing {peer} turned the GIL on: set PYTHON_GIL=0")
    gc.collect()

    start = time.perf_counter()
    loader = peer_loader(dataset, workload.collate, BATCH_SIZE, workers)
    batches = iter(loader)
    samples = len(next(batches))
    first_s = time.perf_counter() - start
    samples += sum(len(batch) for batch in batches)
    if samples != len(dataset):
        raise RuntimeError(f"{peer} gave {samples} samples of {len(dataset)}")

    epochs_s, cpu_s = [], []
    for _ in range(workload.EPOCHS - 1):
        cpu_start = time.process_time()
        start = time.perf_counter()
        count = 0
        for _batch in loader:
            count += 1
        epochs_s.append(time.perf_counter() - start)
        cpu_s.append(time.process_time() - cpu_start)
        if count != -(-len(dataset) // BATCH_SIZE):
            raise RuntimeError(f"{peer} gave {count} batches of {-(-len(dataset) // BATCH_SIZE)}")
    return {"first_s": first_s, "epochs_s": epochs_s, "cpu_s": cpu_s, "samples": samples, "batches": count}


def main(arguments: list[str]) -> None:
    """Does what the first argument says and prints its answer."""
    match arguments:
        case ["probe"]:
            answer = probe()
        case ["prepare", workload, folder]:
            import_module(f"workloads.{workload}").prepare(Path(folder))
            answer = {}
        case ["time", workload, folder, peer, workers]:
            answer = measure(workload, Path(folder), peer, int(workers))
        case _:
            sys.exit(__doc__)
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
