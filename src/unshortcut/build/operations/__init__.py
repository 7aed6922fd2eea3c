"""Operations on the images of a data set: one file each."""
