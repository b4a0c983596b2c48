"""Fresh calls and golden vectors, and what independent implementations say of them.

`samples`, `mutations` and `giants` are where calls come from, `fresh` chooses among them,
`implementations` compares answers and `checks` does so for everything that must agree.
"""
