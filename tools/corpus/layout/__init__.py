"""Files of the layout: `hoodie.properties`.

What may be changed here: cases may be added. Imports `corpus` only.
"""
