"""Stage 4a: checks on one prompt, one file per kind."""
