"""Which modules pytest cannot import for their examples: those that need a package that is not here."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torchmetrics") else ["src/hyperacuity/evaluation/torch.py"]
