"""The table of the third opinion."""

LIBRARY = {}


def library(name: str):
    """Registers the function below it; it gets attributes and int64 arrays."""

    def register(function):
        LIBRARY[name] = function
        return function

    return register
