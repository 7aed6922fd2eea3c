"""Names and messages without the user's private folders."""

import pytest

from unshortcut.result import public_name, public_text


@pytest.mark.parametrize(
    ("spec", "public"),
    [
        ("/home/me/photos@val", "photos@val"),
        ("../photos", "photos"),
        ("photos/val", "photos/val"),
        ("imagenet100:/data/imagenet@val", "imagenet100:imagenet@val"),
        ("imagenet100:objectnet:~/objectnet", "imagenet100:objectnet:objectnet"),
        ("cub:birds", "cub:birds"),
        ("timm:resnet50", "timm:resnet50"),
        ("package.module:function", "package.module:function"),
    ],
)
def test_a_spec_loses_private_folders_and_keeps_its_prefix(spec: str, public: str) -> None:
    assert public_name(spec) == public


def test_a_message_loses_private_folders_but_no_address() -> None:
    assert public_text("'cub:/data/me/birds' is not cub") == "'cub:birds' is not cub"
    assert public_text("no such file: /data/me/a.txt") == "no such file: a.txt"
    assert public_text("see https://example.org/a/b") == "see https://example.org/a/b"
