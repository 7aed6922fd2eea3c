"""Operations on the images of a data set, one per file; `discovery` finds them by name."""
