"""Pictures of a table in every form: text, SVG, pixels, a window, a film. What they show is the games' business.

``renderer`` is what an environment holds; ``raster``, ``window`` and ``film`` make pixels, and only they import the libraries of
the extra ``render``, when they are used.
"""
