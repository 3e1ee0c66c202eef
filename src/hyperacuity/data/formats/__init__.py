"""One file format each: bytes in, arrays out, or a sentence that says what is wrong."""
