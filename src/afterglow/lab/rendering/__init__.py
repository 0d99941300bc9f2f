"""Rendering of pages, figures and numbers: HTML templates, SVG, PDF, colours, rounding."""
