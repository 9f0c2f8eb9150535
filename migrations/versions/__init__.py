"""The revisions, oldest first by name. One that was released is never changed."""
