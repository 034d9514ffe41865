"""Stage 2: send order, one file per provider API."""
