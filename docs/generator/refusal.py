"""The exception of the whole generator."""


class Refused(Exception):
    """The site cannot be made: something in it is wrong, which the argument says."""
