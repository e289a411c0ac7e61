"""Bloom filters that Apache Hudi 1.0.2 wrote."""

UUID = "334e26e9-8355-45cc-97c6-c31daf0df330"
TENS = [f"k{i}" for i in range(13)]
#: Kind, entries, rate, most entries, keys, and the filter that Apache Hudi makes of them.
WRITTEN = (
    ("SIMPLE", 10, 0.01, 100, ["a", "b"], "/////wAAAAcBAAAAYKIQgARAUAhABACACA=="),
    ("DYNAMIC_V0", 10, 0.01, 100, ["a", "b"], "/////wAAAAcBAAAAYAAAAAoAAAACAAAAAf////8AAAAHAQAAAGCiEIAEQFAIQAQAgAg="),
    ("SIMPLE", 10, 0.01, 100, [], "/////wAAAAcBAAAAYAAAAAAAAAAAAAAAAA=="),
    ("DYNAMIC_V0", 10, 0.01, 100, [], "/////wAAAAcBAAAAYAAAAAoAAAAAAAAAAf////8AAAAHAQAAAGAAAAAAAAAAAAAAAAA="),
    ("DYNAMIC_V0", 5, 0.1, 10, TENS[:5], "/////wAAAAQBAAAAGAAAAAUAAAAFAAAAAf////8AAAAEAQAAABj23og="),
    ("DYNAMIC_V0", 5, 0.1, 10, TENS[:6], "/////wAAAAQBAAAAGAAAAAUAAAABAAAAAv////8AAAAEAQAAABj23oj/////AAAABAEAAAAYQAQk"),
    ("DYNAMIC_V0", 5, 0.1, 10, TENS, "/////wAAAAQBAAAAGAAAAAUAAAAIAAAAAv////8AAAAEAQAAABj+3rz/////AAAABAEAAAAYZ9Wt"),
    ("SIMPLE", 5, 0.1, 10, TENS, "/////wAAAAQBAAAAGP/fvQ=="),
    ("SIMPLE", 20, 0.001, 100, ["é", "日本", "😀", "abé", "abcdefgh"],
     "/////wAAAAoBAAABIKIAAFgEIAAMQAAClAAgkCMAAEAIQQIAEAAEBiJwgAQQtADQAA=="),
)  # fmt: skip
