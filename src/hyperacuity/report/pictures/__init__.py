"""Pictures of maps and matches, as arrays and as layers of the viewer."""
