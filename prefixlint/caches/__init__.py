"""Stage 5: cache models, one file per family."""
