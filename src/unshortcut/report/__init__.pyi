from .map_page import EmbeddingMap as EmbeddingMap
from .model_comparison import ModelComparison as ModelComparison
from .model_comparison import compare as compare
from .report import Report as Report
