"""The front door: inputs of any kind become cells, cells become tallies, tallies become a result."""
