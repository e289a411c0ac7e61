"""`hudi-conformance explain`: what is known of one name, as lines with labels. One module for rules, one for everything else.

May import `report.evidence` and the packages below `report`. What may be changed here: what is shown of a name.
"""
