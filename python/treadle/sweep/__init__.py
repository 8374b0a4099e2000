"""``treadle sweep``: times over sizes, over uses of the same data, and over block sizes."""
