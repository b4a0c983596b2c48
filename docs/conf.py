"""Sphinx's settings. CMake gives the rest: the version and the place of Doxygen's XML."""

project = "Lockstep"
html_title = "Lockstep"
extensions = [
    "breathe",
    "label_directive",
    "linked_words",
    "myst_parser",
    "search_texts",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "standalone_theme",
]
exclude_patterns = ["generated"]
html_extra_path = ["beside"]
html_favicon = "static/favicon.svg"
highlight_language = "text"
nitpicky = True
# Others document what the headers use of the C library, of DLPack and of nlohmann's; namespaces
# have no entry of their own, and the words of the specification stand in the vocabulary.
FOREIGN = r"u?int\d+_t|size_t|k?DL\w+|nlohmann(::json)?|(L|l)[sS]_\w+"
NAMESPACES = r"(lockstep(::)?)?((backend|client|graph|ndarray|params|reference|runtime|utils)" \
    r"(::npz|::dlpack)?)?|detail(::\w+)?"
WORDS = r"i32|i64|Type|Shape|Attr|Attributes|OpInfo|BrokenSpecification|Erratum|List<.*>|" \
    r"(params::)?(DType|Reject|kMaxDimensions)|what|as"
nitpick_ignore_regex = [(r"c(pp)?:identifier", f"{FOREIGN}|{NAMESPACES}|{WORDS}")]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# Two hyphens begin an option; they are no dash.
smartquotes_action = "qe"
# Docstrings write code as `code`.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"

breathe_default_project = "cpp"
breathe_show_include = False
breathe_show_define_initializer = True
breathe_show_enumvalue_initializer = True
breathe_domain_by_extension = {"h": "cpp"}
breathe_domain_by_file_pattern = {"*/backend.h": "c", "*/capi/*.h": "c"}

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["lockstep.css"]
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None
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
