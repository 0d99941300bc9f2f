"""Reading of the files in `deploy`, and the programs that they are written for."""
