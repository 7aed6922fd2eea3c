"""Weights that others have published: MoCo, SimCLR, BYOL, DINO, solo-learn, lightly, timm, …"""
