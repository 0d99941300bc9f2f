"""Second, plain implementations that tests compare with."""
