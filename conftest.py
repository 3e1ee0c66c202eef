"""Which modules pytest cannot import for their examples: those that need a package that is not here."""

from importlib.util import find_spec

NEEDED = {
    "evaluation/torch.py": "torchmetrics",
    "detect/net/architecture.py": "torch",
    "detect/net/crops.py": "torch",
    "detect/net/training.py": "torch",
    "detect/net/export.py": "onnx",
}
collect_ignore = [f"src/hyperacuity/{module}" for module, package in NEEDED.items() if not find_spec(package)]
