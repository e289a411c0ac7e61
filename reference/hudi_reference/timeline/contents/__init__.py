"""Contents of the files of actions: Avro records of plans and metadata, spec "Timeline > Actions".

May import `timeline.instants`. `avsc` has the schemas as deployed writers embed them. What may be changed here: which fields
of the records are read and written.
"""
