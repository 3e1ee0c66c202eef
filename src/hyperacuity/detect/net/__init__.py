"""A small network that sees boundaries, and on which side of them the nearer thing lies, in one photograph.

=====================  ===================================================================================================
:mod:`.network`        looking: the network that comes with the package, by onnxruntime on a CPU (extra ``see``)
:mod:`.sight`          what follows from a look: regions, depth order; :func:`see`
:mod:`.lessons`        what it learns from: people's boundaries and figure/ground labels as targets
:mod:`.architecture`   the network in PyTorch (extra ``train``)
:mod:`.settings`       how it is learned
:mod:`.crops`          batches of crops to learn from
:mod:`.training`       the loss, and a training that can be resumed
:mod:`.export`         from PyTorch to the ONNX file
=====================  ===================================================================================================

What it learned from, under which licence, what it scores and what it must not be used for: ``docs/tasks/see.md``.
"""
