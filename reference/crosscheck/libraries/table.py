"""The tables of functions, one per library."""


class Table(dict):
    """The functions of a library by operator."""

    def __call__(self, name: str):
        """Registers the function below it; it gets attributes and int64 arrays."""

        def register(function):
            self[name] = function
            return function

        return register


NUMPY, PYTORCH = Table(), Table()
