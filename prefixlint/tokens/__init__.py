"""Stage 3: tokenizers, one file per backend."""
