"""The time zones that a writer may have had, which no table stores."""

import datetime

#: The offsets from UTC at which an expression or the folder of a time may have been evaluated (ER-165).
ZONES = (datetime.UTC, *(datetime.timezone(datetime.timedelta(minutes=m)) for m in range(-12 * 60, 14 * 60 + 1, 15)))
