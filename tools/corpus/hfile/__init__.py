"""HFiles, built block by block: valid and damaged ones."""
