"""Parts of tables."""

from unshortcut.measuring.exhibits import Column


def test_an_estimate_has_a_column_for_its_value_and_two_for_its_interval() -> None:
    value, low, high = Column.estimate("Bias", percent=True, tip="of shape", of="bias")
    assert value == Column("Bias", percent=True, tip="of shape")
    assert low == Column("From", percent=True, tip="lower end of the 95 % interval of the bias")
    assert high == Column("To", percent=True, tip="upper end of the 95 % interval of the bias")
    _, low, _ = Column.estimate("Cosine", digits=2)
    assert low == Column("From", digits=2, tip="lower end of the 95 % interval of the value before")
