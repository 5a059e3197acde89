"""`headrace demo`: a classifier of handwritten digits, trained from PNG files through `DataLoader`."""
