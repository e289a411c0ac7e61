"""Base files of Parquet and ORC, and single files that writers of Apache Hudi wrote."""
