"""Commands, one file each, imported when called."""
