"""A network in ONNX with one layer plays a match against random bots."""

import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from chatiere import engine
from chatiere.command import main

game = engine.game("discat")
shape = (game.observation_length, game.num_distinct_actions)
weights = np.random.default_rng(1).normal(size=shape).astype(np.float32)
graph = helper.make_graph(
    [helper.make_node("MatMul", ["observations", "weights"], ["logits"])],
    "policy",
    [helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["n", shape[0]])],
    [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", shape[1]])],
    [helper.make_tensor("weights", TensorProto.FLOAT, shape, weights.tobytes(), raw=True)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "policy.onnx")
    path.write_bytes(model.SerializeToString())
    main(["arena", "--game", "discat", "--bots", f"random,onnx:{path}", "--games", "20"], standalone_mode=False)
