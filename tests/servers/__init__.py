"""The servers that the suite starts, as fixtures, and the certificates that they show."""
