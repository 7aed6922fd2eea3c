from .task import Example as Example
from .task import Score as Score
from .task import Task as Task
from .task import TaskSettings as TaskSettings
