"""Sums of whole numbers: exact, whatever the order, and the moments that floating-point numbers give too."""

from __future__ import annotations

import json
from itertools import permutations

import numpy as np
import pytest

from nainjaune_agents.measure.stats.differences import Differences
from nainjaune_agents.measure.stats.exact_sums import DifferenceSums, ProductSums, sums_of_products
from nainjaune_agents.measure.stats.ratio_estimate import Ratios

VALUES = np.random.default_rng(1).integers(-40, 41, 90) * (np.arange(90) % 3 == 0)
PARTS = (VALUES[:1], VALUES[1:40], VALUES[40:])


def test_differences_in_any_order_are_equal_to_the_last_bit() -> None:
    whole = DifferenceSums(48)
    whole.add(VALUES)
    expected = Differences.of(VALUES / 48)
    differences = whole.differences()
    assert (differences.count, differences.differing) == (expected.count, expected.differing)
    assert [differences.mean, differences.squares, differences.half_width] == pytest.approx(
        [expected.mean, expected.squares, expected.half_width]
    )
    np.testing.assert_allclose(differences.sides, expected.sides)
    for order in permutations(PARTS):
        sums = DifferenceSums(48)
        for part in order:
            of_part = DifferenceSums(48)
            of_part.add(part)
            sums.merge(DifferenceSums.from_json(48, json.loads(json.dumps(of_part.to_json()))))
        assert sums == whole
        assert sums.differences() == differences


def test_without_values_there_are_no_differences() -> None:
    assert DifferenceSums(3).differences() == Differences()


@pytest.mark.parametrize("largest", [3, 10**6, 10**12])
def test_products_are_exact_however_large(largest: int) -> None:
    values = np.random.default_rng(2).integers(-largest, largest + 1, (2, 3, 50))
    products = sums_of_products(values)
    for group in range(2):
        rows = [[int(x) for x in row] for row in values[group]]
        assert products[group].tolist() == [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]


def test_products_merge_to_the_ratios_of_the_whole() -> None:
    values = np.random.default_rng(3).integers(1, 30, (5, 4, 60))
    scale = np.array([[4, 1, 48, 2]] * 5, object)
    expected = Ratios(5)
    expected.add(values / scale.astype(float)[:, :, None])
    whole, merged = ProductSums(5, 4), ProductSums(5, 4)
    whole.add(values)
    for part in (values[:, :, 40:], values[:, :, :1], values[:, :, 1:40]):
        sums = ProductSums(5, 4)
        sums.add(part)
        merged.merge(ProductSums.from_json(json.loads(json.dumps(sums.to_json()))))
    ratios = merged.ratios(scale)
    assert ratios.blocks == 60
    np.testing.assert_allclose(ratios.mean, expected.mean)
    np.testing.assert_allclose(ratios.products, expected.products)
    np.testing.assert_array_equal(ratios.products, whole.ratios(scale).products)
    assert merged.to_json() == whole.to_json()
    np.testing.assert_array_equal(whole.totals, values.sum(axis=-1))
    np.testing.assert_array_equal(whole.products, values @ values.swapaxes(-1, -2))
    assert not ProductSums(2, 4).ratios(scale[:2]).blocks
