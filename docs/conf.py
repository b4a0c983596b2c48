"""Sphinx's settings. CMake gives the rest: the version and the place of Doxygen's XML."""

project = "Lockstep"
html_title = "Lockstep"
extensions = [
    "breathe",
    "label_directive",
    "linked_words",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "standalone_theme",
]
exclude_patterns = ["generated"]
highlight_language = "text"
nitpicky = True
# Other projects document what backend.h uses of the C library and of DLPack.
nitpick_ignore_regex = [(r"c(pp)?:identifier", r"u?int\d+_t|DLTensor|size_t")]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# Docstrings write code as `code`.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"

breathe_default_project = "lockstep"
breathe_show_include = False
breathe_show_define_initializer = True
breathe_show_enumvalue_initializer = True
breathe_domain_by_extension = {"h": "c"}

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["lockstep.css"]
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None
# Summaries are fetched, which browsers refuse for a page opened from a directory.
html_show_search_summary = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#6cb6ff", "color-brand-content": "#6cb6ff"},
}
pygments_style = "default"
pygments_dark_style = "native"

mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
mathjax2_config = {
    "messageStyle": "none",
    "showMathMenu": False,
    "displayAlign": "left",
    "displayIndent": "0",
    "SVG": {"linebreaks": {"automatic": True, "width": "container"}},
}
