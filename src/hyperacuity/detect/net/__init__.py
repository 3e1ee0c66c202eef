"""A small network that sees boundaries, and on which side of them the nearer thing lies, in one photograph.

:mod:`.network` looks (onnxruntime, extra ``see``), :mod:`.sight` makes regions and an order of it; :mod:`.lessons`,
:mod:`.architecture`, :mod:`.crops`, :mod:`.training` and :mod:`.export` make the network (PyTorch, extra ``train``).

What it learned from, under which licence, what it scores and what it must not be used for: ``docs/tasks/see.md``.
"""
