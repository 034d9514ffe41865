"""Stage 6: the canonicalizer."""
