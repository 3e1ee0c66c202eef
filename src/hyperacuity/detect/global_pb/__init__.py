"""``gpb``: global probability of boundary, after Arbeláez, Maire, Fowlkes & Malik (2011).

==================  =======================================================================================================
:mod:`.cues`        brightness, colour and texture on both sides of a line, at three scales
:mod:`.spectral`    eigenvectors of the affinity of pixels, and their gradients
:mod:`.model`       the weights of both, and the file that holds them
:mod:`.detector`    looking: ``gpb``, its hierarchy of regions, and ``gpb-ucm``
:mod:`.training`    learning the weights from what people drew
==================  =======================================================================================================
"""
