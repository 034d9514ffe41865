"""Stage 4a': checks on the source code that builds prompts, one file per language."""
