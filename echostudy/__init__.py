"""The command line of echostudy: a thin layer; nothing imports it."""
