"""Evaluations of frozen features: linear, kNN, few-shot, rotation and multi-label probes, SVMs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
