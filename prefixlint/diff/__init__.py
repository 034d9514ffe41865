"""Stage 4b: sessions, forks, causes and sites of a log."""
