"""Weighted k-nearest-neighbor classification of frozen features (Wu et al. 2018, InstDisc)."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from unshortcut.errors import UsageError
from unshortcut.probes.matrices import (
    MANY_CLASSES,
    TOP,
    Accuracy,
    FeatureMatrix,
    Labels,
    accuracy,
    checked,
    checked_features,
)

NEIGHBORS = (1, 5, 20, 200)
TEMPERATURE = 0.07

QUERIES = 1024
"""Number of queries that are compared at once."""
BANK = 2**15
"""Number of training samples that are compared at once."""


def knn_accuracy(
    train_features: FeatureMatrix,
    train_labels: Labels,
    test_features: FeatureMatrix,
    test_labels: Labels,
    *,
    k: Sequence[int] = NEIGHBORS,
    temperature: float = TEMPERATURE,
    weighted: bool = True,
) -> dict[int, float]:
    """Accuracy (0 to 1) for every k, in one pass over the data.

    The k training samples with the largest cosine similarity vote for their class with weight
    exp(similarity / temperature), or with equal weights if not `weighted`. If k exceeds the number
    of training samples, all of them vote. `choose_k` chooses k without the test set.
    """
    predictions = knn_predict(
        train_features, train_labels, test_features, k=k, temperature=temperature, weighted=weighted
    )
    _, labels = checked((test_features, test_labels), "test")
    return {count: accuracy(predicted, labels) for count, predicted in predictions.items()}


def knn_top_accuracy(
    train_features: FeatureMatrix,
    train_labels: Labels,
    test_features: FeatureMatrix,
    test_labels: Labels,
    *,
    k: int,
    classes: int,
    temperature: float = TEMPERATURE,
) -> Accuracy:
    """Top-1 accuracy and, for more than ten classes, top-5 accuracy; see `knn_accuracy`.

    The five classes are those with the most votes. Of classes with equal votes, the one with the
    lower label comes first; a class without votes is never among them, so with k = 1 both
    accuracies are equal.
    """
    bank, labels = checked((train_features, train_labels), "train", classes)
    queries, truth = checked((test_features, test_labels), "test", classes)
    neighbors = _neighbors(bank, queries, min(k, len(bank)))
    ranked = _vote(neighbors, labels, (k,), temperature, True, _ranked)[k]
    top1 = accuracy(ranked[:, 0], truth)
    if classes <= MANY_CLASSES:
        return Accuracy(top1)
    return Accuracy(top1, float((ranked == truth[:, None]).any(1).double().mean()))


def knn_predict(
    train_features: FeatureMatrix,
    train_labels: Labels,
    test_features: FeatureMatrix,
    *,
    k: Sequence[int] = NEIGHBORS,
    temperature: float = TEMPERATURE,
    weighted: bool = True,
) -> dict[int, Tensor]:
    """Predicted classes (M,) of the test samples for every k; see `knn_accuracy`."""
    bank, labels = checked((train_features, train_labels), "train")
    queries = checked_features(test_features, "test")
    if queries.shape[1] != bank.shape[1]:
        raise UsageError(
            f"the train features have {bank.shape[1]} dimensions, "
            f"the test features {queries.shape[1]}"
        )
    neighbors = _neighbors(bank, queries, min(max(k, default=0), len(bank)))
    return _vote(neighbors, labels, k, temperature, weighted)


def knn_votes(
    train_features: FeatureMatrix,
    train_labels: Labels,
    features: FeatureMatrix,
    *,
    k: int,
    classes: int,
    temperature: float = TEMPERATURE,
) -> Tensor:
    """Share of the weighted votes for each class, (M, K); see `knn_accuracy`."""
    bank, labels = checked((train_features, train_labels), "train", classes)
    queries = checked_features(features, "test")
    neighbors = _neighbors(bank, queries, min(k, len(bank)))
    parts = [
        _votes(similarity, labels[index], classes, temperature) for similarity, index in neighbors
    ]
    votes = torch.cat(parts)
    return votes / votes.sum(dim=1, keepdim=True)


def choose_k(
    features: FeatureMatrix,
    labels: Labels,
    *,
    k: Sequence[int] = NEIGHBORS,
    temperature: float = TEMPERATURE,
    weighted: bool = True,
) -> tuple[int, dict[int, float]]:
    """The k with the best leave-one-out accuracy on the training set, and the accuracy of every k.

    In a tie the smallest k is chosen.
    """
    bank, classes = checked((features, labels), "train")
    if len(bank) < 2:
        raise UsageError("choosing k requires at least 2 training samples")
    neighbors = _neighbors(bank, bank, min(max(k, default=0), len(bank) - 1), leave_out=True)
    predictions = _vote(neighbors, classes, k, temperature, weighted)
    scores = {count: accuracy(predicted, classes) for count, predicted in predictions.items()}
    return max(sorted(scores), key=scores.__getitem__), scores


def _neighbors(
    bank: Tensor, queries: Tensor, k: int, leave_out: bool = False
) -> Iterator[tuple[Tensor, Tensor]]:
    """Similarities and bank indices (q, k) in descending order, for one chunk of queries at a time.

    With `leave_out` the queries are the bank itself, and no sample is its own neighbor. The bank is
    searched in parts, so that memory does not grow with it.
    """
    for first in range(0, len(queries), QUERIES):
        query = F.normalize(queries[first : first + QUERIES].float(), dim=1)
        best = query.new_empty(len(query), 0)
        index = torch.empty(len(query), 0, dtype=torch.int64, device=query.device)
        for start in range(0, len(bank), BANK):
            part = F.normalize(bank[start : start + BANK].float(), dim=1)
            similarity = query @ part.T
            if leave_out:
                similarity.diagonal(first - start).fill_(-torch.inf)
            top, where = similarity.topk(min(k, len(part)), dim=1)
            best, order = torch.cat([best, top], dim=1).topk(
                min(k, best.shape[1] + top.shape[1]), dim=1
            )
            index = torch.cat([index, where + start], dim=1).gather(1, order)
        yield best, index


def _most(votes: Tensor) -> Tensor:
    """The class with the most votes (q,)."""
    return votes.argmax(1)


def _ranked(votes: Tensor) -> Tensor:
    """The five classes with the most votes (q, 5), -1 where no further class has any."""
    most, order = votes.sort(dim=1, descending=True, stable=True)
    return torch.where(most > 0, order, -1)[:, :TOP]


def _vote(
    neighbors: Iterator[tuple[Tensor, Tensor]],
    labels: Tensor,
    k: Sequence[int],
    temperature: float,
    weighted: bool,
    decide: Callable[[Tensor], Tensor] = _most,
) -> dict[int, Tensor]:
    """What `decide` makes of the votes (q, K) of a chunk of queries, for every k."""
    if not k or min(k) < 1:
        raise UsageError(f"every k must be at least 1, not {list(k)}")
    if not temperature > 0:
        raise UsageError(f"the temperature must be above 0, not {temperature}")
    classes = int(labels.max()) + 1
    predicted: dict[int, list[Tensor]] = {count: [] for count in k}
    for similarity, index in neighbors:
        voted = labels[index]
        for count, parts in predicted.items():
            near = similarity[:, :count] if weighted else torch.zeros_like(similarity[:, :count])
            parts.append(decide(_votes(near, voted[:, :count], classes, temperature)))
    return {count: torch.cat(parts) for count, parts in predicted.items()}


def _votes(similarity: Tensor, voted: Tensor, classes: int, temperature: float) -> Tensor:
    """Votes (q, K) of neighbors with descending similarities (q, k) for their classes (q, k)."""
    # Relative to the best neighbor, so that low temperatures do not overflow.
    weight = ((similarity - similarity[:, :1]) / temperature).exp()
    votes = weight.new_zeros(len(weight), classes)
    return votes.scatter_add_(1, voted, weight)
