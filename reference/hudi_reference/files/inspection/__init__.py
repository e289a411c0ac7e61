"""What lies in one file, whatever it is: for people, and for comparison between engines.

`kind` says what a file is by its bytes; `log`, `base` and the HFile reader say what it holds; `envelope` takes a log block
apart byte by byte, also where it is damaged. Nothing here decides what a table reads: everything that can be shown is shown,
and what is wrong stands beside it.
"""
