"""The history of the timeline: archived actions in Parquet files with a manifest, spec "LSM Timeline".

May import `timeline.instants` and `timeline.contents`. What may be changed here: how level files are read, merged and listed.
"""
