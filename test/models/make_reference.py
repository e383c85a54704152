# Part of the smp project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the archives and the reference data of the test models.

  make_reference.py [MODEL...]           writes test/models/data/
  make_reference.py --check [MODEL...]   makes them again and compares

`<model>.pt2` is the exported model without weights; `<model>.safetensors` what
PyTorch computes with the reference weights (smp/reference.py):

  b<n>/inputs/<input>            seeded inputs of a batch of n = 2 and n = 3
  b<n>/f64/<graph>/<output>      the graph with every floating dtype float64
  b<n>/f32/<graph>/<output>      the unmodified model; graph is train or eval;
                                 train has what changed buffers become, too
  b2/grad/<parameter>            float64 gradients of the loss (train graph)
  steps/inputs/<input>           inputs of the trajectories, 8 rows a step
  <optimizer>/losses             10 steps of the unmodified model
  <optimizer>/params/<parameter> and where it arrives
  <optimizer>/norms              gradient norms before clipping
  <optimizer>/states/<buffer>    buffers that training changes, at the end
  <optimizer>/eval_loss          of such a model: the loss of its evaluation on
                                 the first 77 rows of the trajectories

with the optimizers' settings in the metadata (`smp`, one JSON object). `losses_only` models have no
outputs but the loss, no gradients and no parameters; `random` ones no train
graph and no trajectories; `untrained` ones no trajectories.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import zipfile
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python"), str(HERE)]

from lifted import LiftedGraph  # noqa: E402
from models import MODELS, Model, model_named  # noqa: E402
from smp import archive, record_initialisation  # noqa: E402
from smp.exporter import Export, build  # noqa: E402
from smp.reference import load_reference_weights  # noqa: E402

STEPS = 10
STEP_ROWS = 8
# No multiple of a step's rows: the last batch of an evaluation is ragged.
EVALUATED_ROWS = 77
OPTIMIZERS = {
    "adamw": {
        "name": "adamw",
        "lr": 1e-3,
        "betas": [0.9, 0.999],
        "eps": 1e-8,
        "weight_decay": 0.01,
    },
    "sgd": {
        "name": "sgd",
        "lr": 0.05,
        "momentum": 0.9,
        "weight_decay": 0.0,
        "gradient_clipping": 1.0,
    },
}


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def build_export(model: Model) -> tuple[torch.nn.Module, Export]:
    with record_initialisation():
        module = model.build()
    inputs = model.inputs(2, generator(0))
    exported = build(
        module, inputs, model.loss, weights=False, convention=model.convention
    )
    aliases = exported.description["aliases"]
    load_reference_weights(module, {n: group[0] for group in aliases for n in group})
    return module, exported


def run_native(model: Model, module: torch.nn.Module, inputs: dict) -> dict:
    """The outputs of the unmodified model by their names in the description."""
    if model.loss is None:
        return dict(module(**inputs).items())
    inputs = dict(inputs)
    labels = inputs.pop("labels")
    output = module(**inputs)
    return {"loss": model.loss(output, labels), "output": output}


def changed_buffers(exported: Export) -> dict[str, str]:
    """The buffers that the training graph changes, by the output that says so."""
    specs = exported.programs["model"].graph_signature.output_specs
    kind = torch.export.graph_signature.OutputKind.BUFFER_MUTATION
    return {spec.arg.name: spec.target for spec in specs if spec.kind is kind}


@contextlib.contextmanager
def buffers_restored(module: torch.nn.Module):
    """A run in training mode leaves no trace in the buffers."""
    before = {name: value.clone() for name, value in module.named_buffers()}
    try:
        yield
    finally:
        with torch.no_grad():
            for name, value in module.named_buffers():
                value.copy_(before[name])


def outputs_of(model: Model, module, exported: Export, inputs: dict) -> dict:
    """Outputs of both graphs in float64 and of the model in float32."""
    result = {}
    description = exported.description
    placeholders = {i["name"]: inputs[i["user_name"]] for i in description["inputs"]}
    state = dict(module.named_parameters(remove_duplicate=False))
    for graph, key in (("train", "model"), ("eval", "eval")):
        if graph == "train" and model.random:
            continue
        lifted = LiftedGraph(exported.programs[key], state)(placeholders)
        changed = changed_buffers(exported) if graph == "train" else {}
        with buffers_restored(module):
            native = run_native(model, module.train(graph == "train"), inputs)
            native |= {n: module.get_buffer(n).clone() for n in changed.values()}
        for value, name in changed.items():
            result[f"f64/{graph}/{name}"] = lifted[value]
            result[f"f32/{graph}/{name}"] = native[name]
        for output in description["outputs"][key]:
            if model.losses_only and output["role"] != "loss":
                continue
            name = output["name"]
            result[f"f64/{graph}/{name}"] = lifted[output["value"]]
            result[f"f32/{graph}/{name}"] = native[name]
    return result


def gradients_of(module, exported: Export, inputs: dict) -> dict:
    description = exported.description
    state = dict(module.named_parameters(remove_duplicate=False))
    graph = LiftedGraph(exported.programs["model"], state)
    placeholders = {i["name"]: inputs[i["user_name"]] for i in description["inputs"]}
    values = graph(placeholders)
    loss = next(o for o in description["outputs"]["model"] if o["role"] == "loss")
    values[loss["value"]].backward()
    return {
        f"grad/{p['name']}": graph.parameters[p["name"]].grad
        for p in description["parameters"]
        if p["requires_grad"]
    }


def trajectory(model: Model, module, exported: Export, settings: dict, inputs) -> dict:
    """Ten steps of the unmodified model in float32."""
    parameters = list(module.parameters())
    options = {
        k: v for k, v in settings.items() if k not in ("name", "gradient_clipping")
    }
    kind = torch.optim.AdamW if settings["name"] == "adamw" else torch.optim.SGD
    optimizer = kind(parameters, **options)
    clipping = settings.get("gradient_clipping", float("inf"))
    losses, norms = [], []
    module.train()
    for step in range(STEPS):
        rows = slice(step * STEP_ROWS, (step + 1) * STEP_ROWS)
        batch = {name: value[rows] for name, value in inputs.items()}
        optimizer.zero_grad()
        loss = run_native(model, module, batch)["loss"]
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, clipping))
        optimizer.step()
        losses.append(loss.detach())
    result = {"losses": torch.stack(losses), "norms": torch.stack(norms)}
    if not model.losses_only:
        state = dict(module.named_parameters(remove_duplicate=False))
        for parameter in exported.description["parameters"]:
            result[f"params/{parameter['name']}"] = state[parameter["name"]]
    changed = changed_buffers(exported).values()
    if changed:
        result |= {f"states/{name}": module.get_buffer(name) for name in changed}
        rows = {name: value[:EVALUATED_ROWS] for name, value in inputs.items()}
        result["eval_loss"] = run_native(model, module.eval(), rows)["loss"]
    return result


def reference_data(model: Model, module, exported: Export) -> dict[str, torch.Tensor]:
    data = {}

    def add(prefix: str, tensors: dict) -> None:
        for name, value in tensors.items():
            data[f"{prefix}/{name}"] = value.detach().clone().contiguous()

    for batch in (2, 3):
        inputs = model.inputs(batch, generator(batch))
        add(f"b{batch}/inputs", inputs)
        add(f"b{batch}", outputs_of(model, module, exported, inputs))
        if batch == 2 and not (model.random or model.losses_only):
            add(f"b{batch}", gradients_of(module, exported, inputs))
    if model.random or model.untrained:
        return data
    inputs = model.inputs(STEPS * STEP_ROWS, generator(10))
    add("steps/inputs", inputs)
    aliases = exported.description["aliases"]
    canonical = {name: group[0] for group in aliases for name in group}
    for name, settings in OPTIMIZERS.items():
        load_reference_weights(module, canonical)
        with buffers_restored(module):
            add(name, trajectory(model, module, exported, settings, inputs))
    return data


def metadata(model: Model) -> dict[str, str]:
    """One JSON object, since the order of several is not kept."""
    result = {"version": "1.0", "model": model.name}
    if not (model.random or model.untrained):
        result |= {"steps": STEPS, "rows": STEP_ROWS, "optimizers": OPTIMIZERS}
    return {"smp": json.dumps(result, sort_keys=True)}


def make(model: Model, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    module, exported = build_export(model)
    graph, data = folder / f"{model.name}.pt2", folder / f"{model.name}.safetensors"
    archive.write_archive(str(graph), exported.programs, exported.description, False)
    save_file(reference_data(model, module, exported), data, metadata(model))
    sizes = graph.stat().st_size, data.stat().st_size
    print(f"{model.name}: archive {sizes[0]} bytes, reference data {sizes[1]} bytes")
    if sum(sizes) > 1_000_000:
        sys.exit(f"error: '{model.name}' expects 1 MB at most, got {sum(sizes)} bytes")


def entries(path: Path) -> dict[str, bytes]:
    """An archive's entries without its top folder, pickles and identity."""
    with zipfile.ZipFile(path) as file:
        names = {name.partition("/")[2]: name for name in file.namelist()}
        return {
            short: file.read(name)
            for short, name in names.items()
            if not short.startswith((".data", "data/sample_inputs"))
        }


def differences(key: str, expected: torch.Tensor, got: torch.Tensor) -> str:
    """How a tensor differs from the stored one beyond what another machine's
    vector width explains; empty when it does not."""
    if expected.dtype != got.dtype or expected.shape != got.shape:
        return (
            f"'{key}' expects {expected.dtype} {tuple(expected.shape)}, "
            f"got {got.dtype} {tuple(got.shape)}"
        )
    if not expected.is_floating_point():
        return "" if torch.equal(expected, got) else f"'{key}' differs"
    tolerance = 1e-11 if expected.dtype is torch.float64 else 1e-4
    if "/params/" in key:
        # Adam makes full steps of the rounding noise of tiny gradients.
        tolerance = 5e-2
    scale = expected.abs().max().item()
    error = (expected - got).abs().max().item()
    limit = tolerance * max(scale, 1e-6)
    return (
        ""
        if error <= limit
        else f"'{key}' expects {limit:.1e} at most, got {error:.1e}"
    )


def check(model: Model, folder: Path) -> list[str]:
    """Makes everything again in a temporary folder and compares."""
    import tempfile

    with tempfile.TemporaryDirectory() as temporary:
        make(model, Path(temporary))
        old = entries(folder / f"{model.name}.pt2")
        new = entries(Path(temporary) / f"{model.name}.pt2")
        found = [
            f"archive entry '{name}' differs"
            for name in sorted(old.keys() | new.keys())
            if old.get(name) != new.get(name)
        ]
        name = f"{model.name}.safetensors"
        with (
            safe_open(folder / name, "pt") as stored,
            safe_open(Path(temporary) / name, "pt") as made,
        ):
            if stored.metadata() != made.metadata():
                found.append("metadata differs")
            keys = set(stored.keys())
            if keys != set(made.keys()):
                found.append(f"names differ: {sorted(keys ^ set(made.keys()))}")
            for key in sorted(keys & set(made.keys())):
                text = differences(key, stored.get_tensor(key), made.get_tensor(key))
                found += [text] if text else []
    return [f"{model.name}: {text}" for text in found]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", help="default: all of models.py")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--output", type=Path, default=HERE / "data", metavar="DIR")
    arguments = parser.parse_args()
    # One thread: the order of sums is then that of the program.
    torch.set_num_threads(1)
    models = [model_named(name) for name in arguments.models] or MODELS
    found = []
    for model in models:
        if arguments.check:
            found += check(model, arguments.output)
        else:
            make(model, arguments.output)
    for text in found:
        print(f"error: {text}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
