"""What the peers serve, made from a checkpoint. Runs in their environment (make bench-peers).

usage: python -m tests.benchmarks.peers CHECKPOINT OUT SAMPLES

OUT gets a folder for each way of serving: traced (the graph that torch.onnx.export gives), optimum (quantized by
optimum-onnx for AVX512-VNNI), openvino (fp32, quantized by nncf, and with compressed weights). SAMPLES is a text file
with a sentence a line, to find scales with.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any, Final

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_COPIED: Final = ("config.json", "vocab.txt", "tokenizer_config.json", "tokenizer.json")


def trace(checkpoint: Path, out: Path) -> Any:
    """Write model.onnx, all axes dynamic, logits everywhere; return the tokenizer."""
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = AutoModelForMaskedLM.from_pretrained(checkpoint, attn_implementation="eager").eval()
    example = tokenizer("今天天气真好", return_tensors="pt")
    axes = {name: {0: "batch", 1: "sequence"} for name in (*_INPUTS, "logits")}
    torch.onnx.export(
        model,
        tuple(example[name] for name in _INPUTS),
        str(out / "model.onnx"),
        input_names=list(_INPUTS),
        output_names=["logits"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    return tokenizer


def quantize_with_optimum(traced: Path, out: Path) -> None:
    """Write model_quantized.onnx by the configuration that optimum-onnx offers for this kind of processor."""
    from optimum.onnxruntime import ORTQuantizer
    from optimum.onnxruntime.configuration import AutoQuantizationConfig

    quantizer = ORTQuantizer.from_pretrained(traced, file_name="model.onnx")
    quantizer.quantize(save_dir=out, quantization_config=AutoQuantizationConfig.avx512_vnni(is_static=False))


def convert_to_openvino(traced: Path, out: Path, samples: list[dict[str, Any]]) -> None:
    """Write the three graphs of OpenVINO."""
    import nncf
    import openvino

    model = openvino.convert_model(traced / "model.onnx")
    openvino.save_model(model, out / "openvino.xml", compress_to_fp16=False)
    read = openvino.Core().read_model
    weights = nncf.compress_weights(read(out / "openvino.xml"), mode=nncf.CompressWeightsMode.INT8_SYM)
    openvino.save_model(weights, out / "openvino_weights.xml")
    quantized = nncf.quantize(
        read(out / "openvino.xml"),
        nncf.Dataset(samples),
        model_type=nncf.ModelType.TRANSFORMER,
        subset_size=len(samples),
    )
    openvino.save_model(quantized, out / "openvino_int8.xml")


def main(checkpoint: Path, out: Path, samples: Path) -> None:
    """Make all of them."""
    folders = {name: out / name for name in ("traced", "optimum", "openvino")}
    for folder in folders.values():
        folder.mkdir(parents=True)
        for name in _COPIED:
            if (checkpoint / name).exists():
                shutil.copyfile(checkpoint / name, folder / name)
    tokenizer = trace(checkpoint, folders["traced"])
    quantize_with_optimum(folders["traced"], folders["optimum"])
    encoded = [tokenizer(line, return_tensors="np") for line in samples.read_text(encoding="utf-8").splitlines()]
    feeds = [{name: each[name].astype("int64") for name in _INPUTS} for each in encoded]
    convert_to_openvino(folders["traced"], folders["openvino"], feeds)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
