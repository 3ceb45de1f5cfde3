"""Files of every kind, read and written safely; nothing here knows what they mean."""
