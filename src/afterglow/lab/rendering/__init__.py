"""Pages, figures and numbers for readers: HTML templates, SVG, PDF, colours, rounding."""
