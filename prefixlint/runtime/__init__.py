"""Guards for running programs, one file per client library."""
