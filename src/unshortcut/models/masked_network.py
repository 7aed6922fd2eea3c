"""An encoder that sees some of the patches of an image, and a decoder that predicts patches."""

from typing import NamedTuple

from torch import Tensor, nn

from unshortcut.models.encoder import Encoder
from unshortcut.models.masked_decoder import MaskedDecoder, Predicted
from unshortcut.models.masked_vit import pooled, visible_tokens
from unshortcut.models.masking import PatchMask


class MaskedOutput(NamedTuple):
    """What a `MaskedNetwork` computes of N images."""

    features: Tensor
    """(N, dim), pooled over visible tokens."""
    predicted: Predicted
    """Values of patches; nothing without a decoder."""


class MaskedNetwork(nn.Module):
    """Encoder and decoder, if there is one; the encoder runs once for both outputs."""

    def __init__(self, encoder: Encoder, decoder: MaskedDecoder | None) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(
        self, patches: Tensor, mask: PatchMask, noise_std: Tensor | None = None
    ) -> MaskedOutput:
        """patches: (N, V, P), the visible ones; noise_std: (N,), as the decoder is told it."""
        tokens = visible_tokens(self.encoder, patches, mask)
        nothing = Predicted(None, None)
        predicted = nothing if self.decoder is None else self.decoder(tokens, mask, noise_std)
        return MaskedOutput(pooled(self.encoder, tokens), predicted)
