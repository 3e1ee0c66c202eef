"""Systems at work on files: photographs and stereo pairs in, maps out."""
