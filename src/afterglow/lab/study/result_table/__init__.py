"""`ResultTable`: rows of plain data, shown in notebooks and as LaTeX."""
