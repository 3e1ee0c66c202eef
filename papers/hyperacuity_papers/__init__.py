"""The experiments of five papers, repeated: a folder per paper, with its page, experiments, figures, commands and claims."""

__version__ = "0.1.0"
