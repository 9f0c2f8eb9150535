"""How long and how large anything on the wire may be, and the kinds of field made from that.

The gateway holds the frames to their sizes; the codec holds the fields to theirs. No text may hold
a NUL, which the codec sees to as well.
"""

from typing import Annotated, Literal

from msgspec import Meta

CLIENT_FRAME_BYTES = 4096
SERVER_FRAME_BYTES = 65536

# What every language's numbers hold exactly, JavaScript's too.
LAST_INTEGER = 2**53
LONGEST_ID = 64
LONGEST_NAME = 100
LONGEST_TOKEN = 128
LONGEST_CURSOR = 256
LONGEST_DEAL = 128
LONGEST_MOVE = 20
MOST_ROWS = 100

# An id of the client's or of the server's, and whatever else is named by a short text.
Name = Annotated[str, Meta(max_length=LONGEST_ID)]
LongName = Annotated[str, Meta(max_length=LONGEST_NAME)]
Token = Annotated[str, Meta(max_length=LONGEST_TOKEN)]
Cursor = Annotated[str, Meta(max_length=LONGEST_CURSOR)]
DealText = Annotated[str, Meta(max_length=LONGEST_DEAL)]
MoveText = Annotated[str, Meta(max_length=LONGEST_MOVE)]
Date = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", max_length=len("YYYY-MM-DD"))]

Integer = Annotated[int, Meta(ge=-LAST_INTEGER, le=LAST_INTEGER)]
Count = Annotated[int, Meta(ge=0, le=LAST_INTEGER)]
Rows = Annotated[int, Meta(ge=1, le=MOST_ROWS)]

# Words of which one must be said.
Kind = Literal["human", "bot"]
Autoplay = Literal["safe", "off"]
Status = Literal["playing", "won", "resigned", "expired"]
Board = Literal["first", "moves"]
