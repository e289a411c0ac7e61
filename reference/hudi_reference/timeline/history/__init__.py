"""The history of the timeline: archived actions in Parquet files with a manifest, spec "LSM Timeline".

May import `timeline.instants` and `timeline.contents`.
"""
