"""A plain memory copy for compiled kernels.

Numba cannot know that two arrays do not overlap, so it guards a copying loop with checks that take
as long as copying the row of a patch.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def copy_run(
    typing: Any, target: Any, write: Any, source: Any, read: Any, count: Any
) -> tuple[Any, Any]:
    """target[write : write + count] = source[read : read + count], for (n,) arrays of one type.

    As with C's `memcpy`, nothing is checked: the runs must lie inside the arrays and not overlap.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointers = []
        for array, offset in ((0, 1), (2, 3)):
            kind = context.make_array(signature.args[array])
            data = kind(context, builder, arguments[array]).data
            pointers.append(builder.gep(data, [arguments[offset]]))
        size = context.get_abi_sizeof(context.get_data_type(target.dtype))
        cgutils.raw_memcpy(builder, *pointers, arguments[4], size)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp, types.intp), generate
