"""Merging of whole columns. `merge_slice` chooses between this code and its own."""
