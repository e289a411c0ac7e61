"""Checksums of many bytes at once. `checksum.crc32c` chooses between this code and the plain one."""
