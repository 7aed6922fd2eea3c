"""The built-in data set, rendered on demand: objects whose shape and texture agree or conflict."""

from unshortcut.data.shapes.colors import COLOR_NAMES
from unshortcut.data.shapes.context import GROUPS
from unshortcut.data.shapes.outlines import SHAPE_NAMES
from unshortcut.data.shapes.plan import POSITION_NAMES, SCENES
from unshortcut.data.shapes.scenes import Scene
from unshortcut.data.shapes.source import SPLITS, Shapes
from unshortcut.data.shapes.textures import TEXTURE_NAMES
from unshortcut.data.shapes.unseen_textures import UNSEEN_TEXTURE_NAMES

__all__ = [
    "COLOR_NAMES",
    "GROUPS",
    "POSITION_NAMES",
    "SCENES",
    "SHAPE_NAMES",
    "SPLITS",
    "TEXTURE_NAMES",
    "UNSEEN_TEXTURE_NAMES",
    "Scene",
    "Shapes",
]
