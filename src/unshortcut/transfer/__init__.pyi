from .segmenter import load_segmenter as load_segmenter
from .segmenter_onnx import export_segmenter_onnx as export_segmenter_onnx
from .task import Example as Example
from .task import Score as Score
from .task import Task as Task
from .task import TaskSettings as TaskSettings
