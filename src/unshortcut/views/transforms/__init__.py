"""View transforms: one file each, found by being in this folder."""
