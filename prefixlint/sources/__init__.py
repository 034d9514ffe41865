"""Stage 1: readers, one file per log or file format."""
