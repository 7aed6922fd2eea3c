"""The formula of anisotropic diffusion written out in float64, for any number of axes."""

import numpy as np

CONDUCTANCE = {
    "exponential": lambda x: np.exp(-(x**2)),
    "rational": lambda x: 1 / (1 + x**2),
    "tukey": lambda x: np.where(np.abs(x) <= np.sqrt(2), 0.5 * (1 - x**2 / 2) ** 2, 0.0),
}


def reference(
    image: np.ndarray,
    iterations: int = 20,
    kappa: float = 20.0,
    gamma: float = 0.1,
    conductance: str = "exponential",
    joint: bool = False,
) -> np.ndarray:
    """The last axis of (h, w, c) is diffused along only where joint."""
    state = image.astype(np.float64)
    axes = range(image.ndim if joint else 2)
    for _ in range(iterations):
        change = np.zeros_like(state)
        for axis in axes:
            delta = np.diff(state, axis=axis)
            flow = CONDUCTANCE[conductance](delta / kappa) * delta
            # Flow through both borders is nothing; what comes in is the difference of the flows.
            around = [(1, 1) if number == axis else (0, 0) for number in range(state.ndim)]
            change += np.diff(np.pad(flow, around), axis=axis)
        state = state + gamma * change
    return state


def adversarial() -> dict[str, np.ndarray]:
    """uint8 (h, w, 3) images that are hard on one thing each."""
    rng = np.random.default_rng(0)
    lines = np.zeros((21, 30, 3), np.uint8)
    lines[10], lines[:, 7], lines[:, 20] = 255, 40, 12
    board = (np.indices((20, 23)).sum(0) % 2)[..., None].repeat(3, -1)
    gentle = np.clip(rng.normal(128, 15, (33, 40, 3)), 0, 255)
    return {
        "constant": np.full((9, 12, 3), 77, np.uint8),
        "lines of one pixel": lines,
        "one row": rng.integers(0, 256, (1, 50, 3), dtype=np.uint8),
        "one column": rng.integers(0, 256, (50, 1, 3), dtype=np.uint8),
        "one pixel": rng.integers(0, 256, (1, 1, 3), dtype=np.uint8),
        "two by two": rng.integers(0, 256, (2, 2, 3), dtype=np.uint8),
        "noise": rng.integers(0, 256, (33, 40, 3), dtype=np.uint8),
        "gentle noise": gentle.astype(np.uint8),
        "black and white board": (board * 255).astype(np.uint8),
        "weak board": (board * 30).astype(np.uint8),
    }
