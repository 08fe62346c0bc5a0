"""A value network as an ONNX model, for runtimes of other languages. Knows no files and no bots.

The model takes boards as `Encoding.encode` gives them and gives the six outcomes; what the rules make certain
(`set_certain` of bgai.evaluation.search) and what a bot's habits do are not in it.
"""

from __future__ import annotations

import numpy as np

from bgai.evaluation.network import Network
from bgai.rules.outcome import Outcomes

INPUT = "encoded"  # [boards, width + extras] float32
OUTPUT = "outcomes"  # [boards, 6] float32, chances in the order of Outcomes
OPSET = 17
IR_VERSION = 8  # of the file; with the opset of 2022, so that older runtimes read it too


def onnx_model(network: Network, *, name: str) -> bytes:
    """The network as a serialized and checked ONNX model. Raises ModuleNotFoundError without the package onnx."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    encoding = network.encoding
    nodes, weights = [], []
    last = INPUT
    if encoding.extras:
        weights.append(numpy_helper.from_array(np.array([encoding.width, encoding.extras], dtype=np.int64), "split"))
        nodes.append(helper.make_node("Split", [INPUT, "split"], ["men", "extras"], axis=1))
        last = "men"
    for number, (weight, bias) in enumerate(network.layers):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(weight), f"layer{number}.weight"))
        weights.append(numpy_helper.from_array(np.ascontiguousarray(bias), f"layer{number}.bias"))
        sums = f"layer{number}"
        nodes.append(helper.make_node("Gemm", [last, *(w.name for w in weights[-2:])], [sums], transB=1))
        if number == len(network.layers) - 1:
            nodes.append(helper.make_node("Softmax", [sums], [OUTPUT], axis=1))
            break
        last = f"hidden{number}"
        nodes.append(helper.make_node("Relu", [sums], [last]))
        if number == 0 and encoding.extras:
            nodes.append(helper.make_node("Concat", [last, "extras"], ["hidden0_and_extras"], axis=1))
            last = "hidden0_and_extras"
    inputs = helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["boards", len(encoding.names)])
    outputs = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["boards", len(Outcomes._fields)])
    graph = helper.make_graph(nodes, name, [inputs], [outputs], weights)
    model = helper.make_model(
        graph, producer_name="bgai", ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", OPSET)]
    )
    helper.set_model_props(model, {"encoding": encoding.name, OUTPUT: ", ".join(Outcomes._fields)})
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()
