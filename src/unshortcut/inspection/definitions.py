"""How everything on the page is measured, in words."""

_TREES = (
    "For each property, a decision tree of depth 3 with balanced classes is fitted on that "
    "property alone and predicts held-out images (5 folds, stratified by class, at most 2,000 "
    "images). Its balanced accuracy is the mean over classes of the share of images that it gets "
    "right. Values are first put into at most 64 bins of about equal size. The same is done 999 "
    "times with the images' properties permuted, all properties of an image together. The p-value "
    "of a property is the share of permutations in which the best of all properties, of files and "
    "of pixels, is at least as accurate, so that it accounts for the number of properties. A "
    "property is significant if p is at most 0.01. Strength is (accuracy − chance) / (1 − "
    "chance). The AUC is that of the value as a score for one class against all others, on all "
    "images; for categories, that of having the category in which the class differs most."
)
DEFINITIONS = {
    "files": f"{_TREES}\n"
    "The quality of a JPEG is that of the nearest standard table of the Independent JPEG Group; "
    "other tables are categories of their own, named by their hash. Width and height are those of "
    "the upright image. Camera and software are taken from EXIF data, software also from PNG and "
    "GIF.",
    "content": f"{_TREES}\n"
    "The whole image is resized to 128 × 128 pixels. Brightness and contrast are mean and "
    "standard deviation of the gray levels, saturation is the mean of (max − min) / max of the "
    "channels, gray pixels are those whose channels differ by at most 16 of 255, sharpness is the "
    "variance of the Laplacian, and the border is 4 pixels wide. Bytes per pixel are those of the "
    "file, and depend on detail as much as on compression.",
    "use": (
        "The classifier decides on every test image three times: as it is, after the property was "
        "brought to one value for all images, and, as a control, after it was brought to the "
        "value of a random training image of the same class. Detail can be removed but not added, "
        "so quality, size and sharpness are brought to the median of the class with the lowest "
        "one. Changed decisions are counted with Wilson's interval. The difference to the control "
        "is paired by image, with a bootstrap interval; the model uses the property if the "
        "interval is above one percentage point, since lost detail alone changes a few decisions. "
        "Properties such as EXIF data do not show in the pixels, so no model can use them."
    ),
    "copies": (
        "Candidates are pairs of images whose perceptual hashes (signs of the 8 × 8 lowest "
        "frequencies of the cosine transform) are near or, with a model, whose features are among "
        "each other's nearest. One is aligned with the other by an affine transform (ECC), and "
        "the correlation of their pixels at 64 × 64 decides. Hashes count as near at up to 16 "
        "different bits of 64, or fewer in large sets, and features at the cosine that 95 % of "
        "resized, re-encoded, lighter and cropped copies of the data's own images reach. The "
        "least correlation is the one at which at most 1 % of "
        "the pairs are false, where false pairs are counted by searching for copies among "
        "mirrored images. It is at least 0.9, and at most what 95 % of the copies made for this "
        "purpose reach. A leaked image is one of a later split with a copy in the first; for "
        "accuracies, one with a copy among the images that the classifier was fitted on."
    ),
    "labels": (
        "Confident learning (Northcutt et al. 2021): a linear probe on the features of the model "
        "gives probabilities for images that it was not fitted on (5 folds over all splits; "
        "copies share a fold). A class is possible for an image if its probability is at least "
        "the mean probability of the class over the images that carry its label. An image is a "
        "suspect if its most probable possible class is not its label and is more probable than "
        "it. The estimated number of wrong labels scales the counts of label and possible class "
        "to the size of each class. Suspects are listed only if the lower end of Wilson's 95 % "
        "interval of the probe's agreement with held-out labels is at least halfway between the "
        "share of the largest class and 100 %; with less, most of them would be its own errors."
    ),
}
"""By section."""
