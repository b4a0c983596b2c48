"""The Sphinx directive and role `label` for error labels, each of which is an anchor."""

from sphinx import addnodes
from sphinx.directives import ObjectDescription


class LabelDirective(ObjectDescription):
    """Describes a label. `page.html#conv2d.window` leads to it, :label:`conv2d.window` links."""

    def handle_signature(self, sig, signode):
        signode += addnodes.desc_name(sig, sig)
        return sig

    def add_target_and_index(self, name, sig, signode):
        signode["ids"].append(name)
        self.state.document.note_explicit_target(signode)
        self.env.get_domain("std").note_object("label", name, name, location=signode)


def setup(app):
    app.add_object_type("label", "label", objname="error label")
    app.add_directive_to_domain("std", "label", LabelDirective, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
