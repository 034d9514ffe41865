"""Stage 7: reports, one file per format."""
