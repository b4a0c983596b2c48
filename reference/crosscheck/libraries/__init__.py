"""What functions of other people's libraries give, for operators that they have.

They are about shapes and values of legal calls alone. The package of a library has LIBRARY, a
function for each operator that is one of the library's or that a few calls of it make up; LEFT_OUT,
why the others are not there; and outputs(), the answer to a call.
"""
