"""The checks of the validator.

finding   Check, Finding and Tally: what a check is, and what it reports
cheap     checks that read listing, timeline, footers and the headers of log blocks
deep      checks that read every row

What may be changed here: what a finding says. Imports `stored` and the reference.
"""
