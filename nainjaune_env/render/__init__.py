"""Renders a table as text, SVG, pixels, a window or a film, from the pictures that each game draws.

``renderer`` is for environments. ``raster``, ``window`` and ``film`` make pixels; only they import libraries of the extra
``render``, and only when they are used.
"""
