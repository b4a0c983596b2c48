"""Puts the installed program into the wheel, which makes it a wheel of one platform."""

import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        tree = os.environ.get("LOCKSTEP_TREE")
        if not tree:
            raise RuntimeError("LOCKSTEP_TREE names no installed program; ./dev wheel makes one")
        platform = os.environ.get("LOCKSTEP_PLATFORM") or sysconfig.get_platform()
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + platform.replace("-", "_").replace(".", "_")
        build_data["force_include"][tree] = "lockstep/tree"
