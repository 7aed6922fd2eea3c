from .changes import Changes as Changes
from .findings import Findings as Findings
from .findings import ModelInfo as ModelInfo
from .findings import Verdict as Verdict
from .requirements import Requirement as Requirement
from .requirements import RequirementResult as RequirementResult
