"""From a learned network to the file that is shipped: ONNX, weights in half precision, settings inside."""

from __future__ import annotations

import copy
import io
import json
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from torch import Tensor, nn

from hyperacuity.detect.net.architecture import STEP, Network
from hyperacuity.detect.net.training import MEAN, SPREAD


class Looking(nn.Module):
    """The network as it is used: a photograph in [0, 1] in, probability of a boundary and ownership out."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, photograph: Tensor) -> tuple[Tensor, Tensor]:
        logit, vector, _ = self.network((photograph - MEAN) / SPREAD)
        return torch.sigmoid(logit), vector


class TorchSession:
    """A network of PyTorch that answers as a session of onnxruntime does: what is learned can be looked through at once."""

    def __init__(self, network: Network, device: torch.device) -> None:
        self.looking, self.device = Looking(network).to(device).eval(), device

    def run(self, _: None, given: Mapping[str, NDArray[np.float32]]) -> list[NDArray[np.float32]]:
        """Boundary and ownership for one padded photograph."""
        with torch.inference_mode():
            answers = self.looking(torch.from_numpy(given["photograph"]).to(self.device))
        return [one.float().cpu().numpy() for one in answers]


def onnx_file(network: Network, about: Mapping[str, Any]) -> bytes:
    """A network as the contents of an ONNX file; ``about`` goes into it as JSON, under ``hyperacuity``."""
    looking = Looking(copy.deepcopy(network).cpu()).eval()
    file = io.BytesIO()
    size = {2: "height", 3: "width"}
    with warnings.catch_warnings():
        # This exporter is the older one, and says so; the newer needs one more package. Nor does it fold every constant.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", UserWarning)
        torch.onnx.export(
            looking,
            (torch.zeros(1, 3, 4 * STEP, 4 * STEP),),
            file,
            input_names=["photograph"],
            output_names=["boundary", "ownership"],
            dynamic_axes=dict.fromkeys(("photograph", "boundary", "ownership"), size),
            opset_version=17,
            dynamo=False,
        )
    model = onnx.load_model_from_string(file.getvalue())
    halve(model)
    helper.set_model_props(model, {"hyperacuity": json.dumps(about, ensure_ascii=False, sort_keys=True)})
    onnx.checker.check_model(model)
    contents: bytes = model.SerializeToString(deterministic=True)
    return contents


def halve(model: onnx.ModelProto) -> None:
    """Keep weights in half precision, and cast them to single when the file is loaded: half the size, the same arithmetic."""
    casts = []
    for weight in model.graph.initializer:
        values = numpy_helper.to_array(weight)
        if values.dtype == np.float32 and values.size > 1:
            name = weight.name
            weight.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
            casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=onnx.TensorProto.FLOAT))
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend([*casts, *nodes])
