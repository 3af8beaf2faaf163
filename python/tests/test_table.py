# SPDX-License-Identifier: Apache-2.0
"""Rows of tables, and sums and means of bags of them, against NumPy's and PyTorch's, for every placement, type and number of ranks; and arguments that are refused."""
import numpy as np
import pytest

import warren

RNG = np.random.default_rng(5)
PLACEMENTS = ["device", "host", "cached"]


def numbers(shape, dtype):
    values = RNG.integers(0, 100, shape)
    return values.astype(dtype) + (np.asarray(0.5j, dtype) if np.dtype(dtype).kind == "c" else np.asarray(0, dtype))


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("devices", [1, 2, 3, 4])
def test_gather(placement, devices):
    for dtype in ("f4", "f8", "f2", "i1", "u1", "?", "i4", "u8", "c8", ">f4"):
        for shape in ((30,), (30, 3), (1, 4), (30, 2, 5)):
            values = numbers(shape, dtype)
            table = warren.Table(values, placement, device="cpu", devices=devices)
            for ids in (RNG.integers(0, shape[0], 50), RNG.integers(0, shape[0], (4, 6)), np.zeros(0, np.int32), np.array(0), [0, 0], np.arange(shape[0], dtype=np.uint8)[::-2]):
                out, info = table.gather(ids, return_info=True)
                assert out.dtype == values.dtype.newbyteorder("=") and np.array_equal(out, values[np.asarray(ids, np.int64)])
                assert (info["devices"], info["count"], info["placement"]) == (devices, np.size(ids), placement)


def test_tables_that_arrays_make_and_keep():
    values = numbers((40, 6), "f4")
    ids = np.array([3, 39, 3])
    read_only = values.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:].view(np.float32).reshape(40, 6)
    for array in (values, read_only, unaligned, values[:, ::2], np.asfortranarray(values), values[::-1], values.tolist()):
        out = warren.gather(array, ids)
        assert np.array_equal(out, np.asarray(array)[ids])
        out[:] = 0  # The caller's own.
    table = warren.Table(values, "cached", cached=[39, 3, 7])
    assert table.gather([3, 39, 4, 3], return_info=True)[1]["hit_rate"] == 0.75
    assert warren.Table(values, "cached", cached=4).gather([3, 4], return_info=True)[1]["hit_rate"] == 0.5
    assert (len(table), table.shape, table.dtype, repr(table)) == (40, (40, 6), np.float32, "<warren.Table 40 x 6 of float32, placement='cached'>")
    table.release()
    assert np.array_equal(warren.gather(table, ids), values[ids])
    assert warren.gather(np.zeros((0, 3)), []).shape == (0, 3)


def test_arrays_of_torch():
    torch = pytest.importorskip("torch")
    table = torch.arange(12.0).reshape(4, 3)
    out = warren.gather(table, torch.tensor([[1, 3]]))
    assert isinstance(out, torch.Tensor) and torch.equal(out.cpu(), table[torch.tensor([[1, 3]])])
    assert isinstance(warren.gather(table.numpy(), torch.tensor([1])), torch.Tensor)
    bags = warren.lookup(table, torch.tensor([[1, 3], [0, 0]]))
    assert torch.equal(bags.cpu(), torch.nn.functional.embedding_bag(torch.tensor([[1, 3], [0, 0]]), table))


def bags_of(values, ids, offsets, mode, weights):
    """Row by row, in float64."""
    out = np.zeros((len(offsets), *values.shape[1:]))
    for bag, (begin, end) in enumerate(zip(offsets, [*offsets[1:], len(ids)])):
        for at in range(begin, end):
            out[bag] += values[ids[at]].astype(np.float64) * (1 if weights is None else weights[at])
        if mode == "mean" and end > begin:
            out[bag] /= end - begin
    return out


@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("dtype, tolerance", [("f4", 1e-6), ("f2", 2e-3)])
def test_lookup(devices, dtype, tolerance):
    values = RNG.normal(size=(25, 7)).astype(dtype)
    for placement in ("device", "host"):
        table = warren.Table(values, placement, device="cpu", devices=devices)
        for bags in (0, 1, 33):
            offsets = np.concatenate([[0], np.cumsum(RNG.integers(0, 5, max(0, bags - 1)))])[:bags].astype(int)
            ids = RNG.integers(0, 25, 0 if bags == 0 else offsets[-1] + 3)
            weights = RNG.normal(size=len(ids))
            ways = [("mean", None, "auto"), ("sum", None, "auto"), ("sum", weights, "pull"), ("sum", None, "owner-sum"), ("sum", None, "messages")]
            for mode, factors, strategy in ways:
                out, info = table.lookup(ids, offsets, mode, factors, strategy=strategy, return_info=True)
                assert out.dtype == values.dtype and out.shape == (bags, 7)
                np.testing.assert_allclose(out, bags_of(values, ids, offsets, mode, factors), rtol=tolerance, atol=10 * tolerance)
                assert info["batch"] == bags and (strategy == "auto" or info["strategy"] == strategy)
                with_last = table.lookup(ids, [*offsets, len(ids)], mode, factors, include_last_offset=True, strategy=strategy)
                assert np.array_equal(with_last, out)


def test_lookup_is_embedding_bag():
    torch = pytest.importorskip("torch")
    weight, ids = torch.randn(50, 8), torch.randint(0, 50, (60,))
    offsets, factors = torch.tensor([0, 0, 10, 45, 60]), torch.randn(60)
    for options in ({}, {"mode": "sum"}, {"mode": "sum", "per_sample_weights": factors}):
        expected = torch.nn.functional.embedding_bag(ids, weight, offsets, **options)
        torch.testing.assert_close(warren.lookup(weight, ids, offsets, **options).cpu(), expected)


@pytest.mark.parametrize("devices", [1, 3])
def test_largest_of_bags(devices):
    torch = pytest.importorskip("torch")
    weight = torch.randn(50, 9)
    weight[::7, ::2] = torch.nan
    weight[3] = -torch.inf
    ids, offsets = torch.randint(0, 50, (90,)), torch.tensor([0, 0, 1, 3, 40, 90])
    if not torch.isnan(torch.nn.functional.embedding_bag(ids, weight, offsets, mode="max")).any():
        weight = torch.nan_to_num(weight)  # Some releases of PyTorch pass over what is no number.
    expected = torch.nn.functional.embedding_bag(ids, weight, offsets, mode="max")
    assert not torch.isnan(expected).all() and not expected[0].any()
    found, info = warren.Table(weight, device="cpu", devices=devices).lookup(ids, offsets, "max", return_info=True)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
    assert info["strategy"] == "pull" and info["mode"] == "max" and (info["rows_moved"] > 0) == (devices > 1)
    half = weight.to(torch.float16)
    torch.testing.assert_close(warren.lookup(half, ids, offsets, "max").cpu(), torch.nn.functional.embedding_bag(ids, half.float(), offsets, mode="max").half(), rtol=0, atol=0, equal_nan=True)


TABLE = warren.Table(np.arange(12, dtype=np.float32).reshape(4, 3))


@pytest.mark.parametrize("call, error, message", [
    (lambda: TABLE.gather([0, 4]), IndexError, r"^ids\[1\]: got 4, expected a row, 0 to 3$"), (lambda: TABLE.gather(np.array([-1], np.int8)), IndexError, r"ids\[0\]: got -1"),
    (lambda: TABLE.gather(np.array([2**64 - 9], np.uint64)), IndexError, r"ids\[0\]: got"), (lambda: TABLE.gather([0.5]), ValueError, "ids: got elements of type float64"),
    (lambda: TABLE.gather([True]), ValueError, "ids: got elements of type bool"), (lambda: TABLE.gather("abc"), ValueError, "ids: got elements of type"),
    (lambda: warren.gather(np.array(["a"]), [0]), ValueError, "table: got elements of type"), (lambda: warren.gather(np.float32(1), [0]), ValueError, r"table: got an array of shape \(\)"),
    (lambda: warren.gather(np.zeros((3, 0)), [0]), ValueError, r"table: got an array of shape \(3, 0\)"), (lambda: warren.gather(np.zeros(3), [0], placement="gpu"), ValueError, "placement: got 'gpu'"),
    (lambda: warren.gather(np.zeros(3), [0], device="tpu"), ValueError, "device: got"), (lambda: warren.gather(np.zeros(3), [0], devices=0), ValueError, "devices: got 0"),
    (lambda: warren.gather(TABLE, [0], placement="host"), ValueError, "placement: got 'host' with a warren.Table"), (lambda: warren.gather(TABLE, [0], devices=2), ValueError, "devices: got 2 with"),
    (lambda: warren.Table(np.zeros(3), cached=1), ValueError, "cached: got rows for a table that is not"), (lambda: warren.Table(np.zeros(3), "cached", cached=4), ValueError, "cached: got 4"),
    (lambda: warren.Table(np.zeros(3), "cached", cached=[1, 1]), ValueError, "cached: got row 1 twice"), (lambda: warren.Table(np.zeros(3), "cached", cached=[3]), IndexError, r"cached\[0\]: got 3, expected a row"),
    (lambda: TABLE.lookup([0, 1]), ValueError, "offsets: got None"), (lambda: TABLE.lookup([[0]], [0]), ValueError, "offsets: got some"), (lambda: TABLE.lookup([0], [1]), ValueError, r"offsets\[0\]: got 1, expected 0"),
    (lambda: TABLE.lookup([0], []), ValueError, "offsets: got none"),
    (lambda: TABLE.lookup([0, 0], [0, 3]), ValueError, r"offsets\[1\]: got 3, expected at most the number of ids, 2"),
    (lambda: TABLE.lookup([0], [0], include_last_offset=True), ValueError, r"offsets\[0\]: got 0, expected the number of ids, 1"),
    (lambda: TABLE.lookup([0], [[0]]), ValueError, r"offsets: got an array of shape \(1, 1\)"), (lambda: TABLE.lookup([0, 9], [0]), IndexError, r"ids\[1\]: got 9"),
    (lambda: TABLE.gather([2**63]), IndexError, r"ids\[0\]: got 9223372036854775808, expected less than 2\*\*63"),
    (lambda: TABLE.lookup([0], [0, -1]), ValueError, r"offsets\[1\]: got -1"),
    (lambda: TABLE.lookup([0], [0], mode="min"), ValueError, "mode: got 'min'"), (lambda: TABLE.lookup([0], [0], strategy="push"), ValueError, "strategy: got 'push'"),
    (lambda: TABLE.lookup([0], [0], strategy="messages"), ValueError, "strategy: got messages, expected auto or pull"),
    (lambda: TABLE.lookup([0], [0], per_sample_weights=[1.0]), ValueError, 'per_sample_weights: got some for mode "mean"'),
    (lambda: TABLE.lookup([0], [0], "max", [1.0]), ValueError, 'per_sample_weights: got some for mode "max"'),
    (lambda: TABLE.lookup([0], [0], "max", strategy="owner-sum"), ValueError, "strategy: got owner-sum, expected auto or pull"),
    (lambda: TABLE.lookup([0], [0], "sum", [1.0, 2.0]), ValueError, r"per_sample_weights: got an array of shape \(2,\)"),
    (lambda: warren.lookup(np.zeros((2, 2)), [[0]]), ValueError, "table: got elements of type float64"),
    (lambda: warren.Table(np.zeros((2, 2), np.float32), "cached").lookup([[0]]), ValueError, "table: got one that is cached")])
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_sessions():
    with warren.Session(device="cpu", devices=3):
        table = warren.Table(np.arange(8.0))
        assert table.gather([7, 0], return_info=True)[1]["devices"] == 3
    with pytest.raises(ValueError, match="session is closed"):
        table.gather([0])
