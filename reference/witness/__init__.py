"""Fresh calls and golden vectors, and what the independent opinions say of them.

`samples`, `mutations` and `giants` are where calls come from, `fresh` chooses among them,
`opinions` compares answers and `checks` does so for everything that must agree.
"""
