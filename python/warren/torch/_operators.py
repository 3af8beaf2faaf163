# SPDX-License-Identifier: Apache-2.0
"""The custom operators: what PyTorch is told of them (schemas, shapes, gradients), and how they call the engine.

A structure is three tensors: `ptr` (int64, rows + 1), `other` (int32, the column of each entry) and `edge` (int64, which edge an entry is). Operators on
edges take two, the rows being the targets, and the sources: either is the other's transpose, which backward needs. Values stand by edges.
The engine computes in float32: float16 and bfloat16 are converted, float64 is computed by PyTorch.
"""
from __future__ import annotations

import functools
from typing import Any

import torch

from .. import _core

_STRUCTURES = "Tensor ptr, Tensor other, Tensor edge, Tensor back_ptr, Tensor back_other, Tensor back_edge"


def _define(name: str, schema: str, run: Any, fake: Any) -> Any:
    operator = torch.library.custom_op(f"warren::{name}", run, mutates_args=(), schema=schema)
    operator.register_fake(fake)
    if hasattr(operator, "register_autocast"):
        for device in ("cpu", "cuda"):
            operator.register_autocast(device, torch.float32)
    return operator


# As torch.cuda.current_stream(), which makes an object of a stream each time; other libraries ask so too.
_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)


def _stream(tensor: Any) -> int:
    if not tensor.is_cuda:
        return 0
    return int(_raw_stream(tensor.device.index) if _raw_stream is not None else torch.cuda.current_stream(tensor.device).cuda_stream)


def _rows(ptr: Any, entries: int, other: Any, values: Any, edge: Any, *scales: Any) -> _core.Rows:
    gpu = ptr.device.index if ptr.is_cuda else -1
    return _core.Rows(gpu, _stream(ptr), ptr.numel() - 1, entries, ptr.data_ptr(), 0 if other is None else other.data_ptr(), 0 if values is None else values.data_ptr(),
                      0 if values is None or edge is None else edge.data_ptr(), *(0 if scale is None else scale.data_ptr() for scale in scales))


@functools.cache
def _has_engine(device: torch.device) -> bool:
    """Whether this build of warren works on the device's arrays."""
    if device.type == "cpu":
        return True
    if device.type != "cuda":
        return False
    ptr = torch.tensor([0, 1], device=device)
    one = torch.ones(1, device=device)
    try:
        _core.rows_spmm(_rows(ptr, 1, None, None, None), 1, 1, one.data_ptr(), torch.empty_like(one).data_ptr())
    except Exception:  # Built without CUDA, say: PyTorch computes.
        return False
    return True


def _is_for_engine(tensor: Any) -> bool:
    return tensor.dtype == torch.float32 and _has_engine(tensor.device)


def _is_small(tensor: Any) -> bool:
    return tensor.dtype in (torch.float16, torch.bfloat16)


def _width(x: Any) -> int:
    """Columns of rows that a GPU reads in pieces of 16 bytes: with 47 in 48, a product takes half as long. What stands in those that are added, nobody reads."""
    k = int(x.shape[-1])
    return (k + 3) // 4 * 4 if x.is_cuda and k > 4 else k


def _entry_rows(ptr: Any, entries: int) -> Any:
    return torch.repeat_interleave(torch.arange(ptr.numel() - 1, device=ptr.device), ptr[1:] - ptr[:-1], output_size=entries)


def _largest(x: Any, rows: Any, shape: tuple[int, int]) -> Any:
    return x.new_full(shape, -torch.inf).scatter_reduce_(0, rows.unsqueeze(-1).expand_as(x), x, "amax")


def _check_same(name: str, tensor: Any, of: Any) -> None:
    if tensor.dtype != of.dtype or tensor.device != of.device:
        raise ValueError(f"{name}: got {tensor.dtype} on {tensor.device}, expected {of.dtype} on {of.device}, as the other tensor has")


def check_device(name: str, tensor: Any, edges: Any) -> None:
    """Raises ValueError unless the tensor is where `edges`, a part of a structure, are: the engine takes their addresses as of one memory."""
    if tensor.device != edges.device:
        raise ValueError(f"{name}: got a tensor on {tensor.device}, expected one on {edges.device}, where the edges are")


def check_memory(name: str, tensor: Any) -> None:
    """Raises ValueError for a tensor of structure whose elements are to be looked at, and which has none."""
    if tensor.device.type == "meta":
        raise ValueError(f"{name}: got a tensor on meta, which has a shape and no elements; expected one in memory")


def structure_of(key: Any, other: Any, count: int, is_sorted: bool) -> tuple[Any, Any, Any]:
    """The structure of edges whose ids are known to be in range. On a GPU it does not wait."""
    narrow = key.to(torch.int32)
    if is_sorted:
        ordered, edge = narrow, torch.arange(key.numel(), device=key.device)
    else:
        ordered, edge = torch.sort(narrow, stable=True)
    ptr = torch.searchsorted(ordered, torch.arange(count + 1, dtype=torch.int32, device=key.device))
    return ptr, (other.to(torch.int32, copy=True) if is_sorted else other.to(torch.int32)[edge]), edge


def _sort_edges(key: Any, other: Any, count: int, other_count: int) -> tuple[Any, Any, Any]:
    is_sorted = True
    if key.numel() > 0:
        is_unsorted = (key[1:] < key[:-1]).any().to(key.dtype)
        # On a GPU the only wait.
        low, high, other_low, other_high, unsorted = torch.stack([key.amin(), key.amax(), other.amin(), other.amax(), is_unsorted]).tolist()
        for least, most, limit in ((low, high, count), (other_low, other_high, other_count)):
            if least < 0 or most >= limit:
                raise IndexError(f"edge_index: got the id {least if least < 0 else most}, expected ids of 0 to {limit - 1}")
        is_sorted = not unsorted
    return structure_of(key, other, count, is_sorted)


sort_edges = _define("sort_edges", "(Tensor key, Tensor other, SymInt count, SymInt other_count) -> (Tensor, Tensor, Tensor)", _sort_edges,
                     lambda key, other, count, other_count: (key.new_empty((count + 1,), dtype=torch.long), key.new_empty(key.shape, dtype=torch.int32),
                                                             key.new_empty(key.shape, dtype=torch.long)))


def _spmm(x: Any, values: Any, ptr: Any, other: Any, edge: Any, back_ptr: Any, back_other: Any, back_edge: Any) -> Any:
    check_device("x", x, ptr)
    if values is not None:
        _check_same("values", values, x)
    if _is_small(x):
        return _spmm(x.float(), None if values is None else values.float(), ptr, other, edge, back_ptr, back_other, back_edge).to(x.dtype)
    heads, k = x.shape[1:]
    if not _is_for_engine(x):
        terms = x[other.long()] if values is None else x[other.long()] * values[edge].unsqueeze(-1)
        return x.new_zeros((ptr.numel() - 1, heads, k)).index_add_(0, _entry_rows(ptr, other.numel()), terms)
    # To copy rows, there and back, is worth it where each is read several times.
    pays = heads == 1 and other.numel() > 4 * (x.shape[0] + ptr.numel())
    width = _width(x) if pays else k
    if width != k:
        x = torch.nn.functional.pad(x, (0, width - k))
    out = x.new_empty((ptr.numel() - 1, heads, width))
    if out.numel() > 0:
        x = x.contiguous()
        by_head = None if values is None else values.t().contiguous()
        _core.rows_spmm(_rows(ptr, other.numel(), other, by_head, edge), heads, width, x.data_ptr(), out.data_ptr())
    return out if width == k else out[:, :, :k].contiguous()


def _fake_spmm(x: Any, values: Any, ptr: Any, *rest: Any) -> Any:
    check_device("x", x, ptr)
    return x.new_empty((ptr.shape[0] - 1, x.shape[1], x.shape[2]))


spmm = _define("spmm", f"(Tensor x, Tensor? values, {_STRUCTURES}) -> Tensor", _spmm, _fake_spmm)


def _sddmm(x: Any, y: Any, ptr: Any, other: Any, edge: Any, back_ptr: Any, back_other: Any, back_edge: Any) -> Any:
    check_device("x", x, ptr)
    _check_same("y", y, x)
    if _is_small(x):
        return _sddmm(x.float(), y.float(), ptr, other, edge, back_ptr, back_other, back_edge).to(x.dtype)
    heads, k = x.shape[1:]
    out = x.new_empty((other.numel(), heads))
    if not _is_for_engine(x):
        out[edge] = (x[_entry_rows(ptr, other.numel())] * y[other.long()]).sum(-1)
        return out
    if out.numel() > 0 and k > 0:
        x, y = x.contiguous(), y.contiguous()
        found = x.new_empty((heads, other.numel()))
        _core.rows_sddmm(_rows(ptr, other.numel(), other, None, None), heads, k, x.data_ptr(), y.data_ptr(), found.data_ptr())
        out.index_copy_(0, edge, found.t())
    return out if k > 0 else out.zero_()


def _fake_sddmm(x: Any, y: Any, ptr: Any, other: Any, *rest: Any) -> Any:
    check_device("x", x, ptr)
    return x.new_empty((other.shape[0], x.shape[1]))


sddmm = _define("sddmm", f"(Tensor x, Tensor y, {_STRUCTURES}) -> Tensor", _sddmm, _fake_sddmm)


# What looks at calls is asked by names that PyTorch does not promise. Where it lacks one of them, every call goes by the registered operator, which takes longer.
_tracing_state: Any = getattr(torch._C, "_get_tracing_state", None)
_modes: Any = getattr(torch._C, "_len_torch_dispatch_stack", None)
_are_transforms_active: Any = getattr(torch._C, "_are_functorch_transforms_active", None)
# Of gradients of many rows at once (`is_grads_batched`), which are no transforms.
_stands_for_many: Any = getattr(getattr(torch._C, "_functorch", None), "is_legacy_batchedtensor", None)


def _is_eager(*tensors: Any) -> bool:
    """Whether PyTorch need not be told of an operator: nothing traces, transforms or casts what it is called with, and it is plain tensors."""
    if torch.compiler.is_compiling() or _tracing_state is None or _modes is None or _are_transforms_active is None or _stands_for_many is None:
        return False
    return (_tracing_state() is None and _modes() == 0 and getattr(torch.autograd.forward_ad, "_current_level", 0) < 0
            and not _are_transforms_active() and not torch.is_autocast_enabled("cuda") and not torch.is_autocast_enabled("cpu") and all(type(tensor) in (torch.Tensor, torch.nn.Parameter) and not _stands_for_many(tensor) for tensor in tensors if tensor is not None))


def _need_gradients(*tensors: Any) -> bool:
    return torch.is_grad_enabled() and any(tensor is not None and tensor.requires_grad for tensor in tensors)


def _scaled(x: Any, values: Any, scale: Any, loops: Any, ptr: Any, other: Any, edge: Any) -> Any:
    check_device("x", x, ptr)
    check_device("scale", scale, ptr)
    if values is not None:
        check_device("values", values, ptr)
    if loops is not None:
        check_device("loops", loops, ptr)
    k, width = x.shape[1], _width(x)
    out = x.new_empty((ptr.numel() - 1, width))
    if out.numel() > 0:
        # A factor a column would be read for each edge.
        rows = x.new_empty((x.shape[0], width))
        torch.mul(x, scale.unsqueeze(1), out=rows if width == k else rows[:, :k])
        _core.rows_spmm(_rows(ptr, other.numel(), other, values, edge, scale, None, loops), 1, width, rows.data_ptr(), out.data_ptr())
    return out if width == k else out[:, :k]


class _ScaledSpmm(torch.autograd.Function):  # type: ignore[misc]
    """S (A + L) S x, of a square matrix A of values, and diagonals S (`scale`) and L (`loops`; None: zeros), which have no gradients."""

    @staticmethod
    def forward(ctx: Any, x: Any, values: Any, scale: Any, loops: Any, *structures: Any) -> Any:
        ctx.save_for_backward(values, scale, loops, *structures)
        return _scaled(x, values, scale, loops, *structures[:3])

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        values, scale, loops, *structures = ctx.saved_tensors
        turned = structures[3:] + structures[:3]
        if not ctx.needs_input_grad[0]:
            return (None,) * 10
        if takes_scaled_spmm(grad, values, scale):
            return (call_scaled_spmm(grad, values, scale, loops, *turned), *[None] * 9)
        scaled = grad * scale.unsqueeze(1)
        dx = call_spmm(scaled.unsqueeze(1), None if values is None else values.view(-1, 1), *turned).squeeze(1)
        dx = dx if loops is None else dx + scaled * loops.unsqueeze(1)
        return (dx * scale.unsqueeze(1), *[None] * 9)


def takes_scaled_spmm(x: Any, values: Any, scale: Any) -> bool:
    """Whether call_scaled_spmm() computes these operands."""
    return (_is_eager(x, values, scale) and x.dim() == 2 and _is_for_engine(x) and scale.dtype == x.dtype and (values is None or values.dtype == x.dtype)
            and not _need_gradients(values, scale))


def call_scaled_spmm(x: Any, values: Any, scale: Any, loops: Any, *structures: Any) -> Any:
    """S (A + L) S x by one pass over the edges. x: (n, k) float32; values: (m,), or None for ones; scale and loops: n numbers. Where takes_scaled_spmm() says so."""
    if _need_gradients(x):
        return _ScaledSpmm.apply(x, values, scale, loops, *structures)
    return _scaled(x, values, scale, loops, *structures[:3])


def _sums(x: Any, scale: Any, ptr: Any, other: Any) -> Any:
    check_device("x", x, ptr)
    out = x.new_empty((ptr.numel() - 1, x.shape[1]))
    if out.numel() > 0:
        x = x.contiguous()
        _core.rows_spmm(_rows(ptr, other.numel(), other, None, None, scale), 1, x.shape[1], x.data_ptr(), out.data_ptr())
    return out


class _Sums(torch.autograd.Function):  # type: ignore[misc]
    """S A x of an Adjacency's A and the diagonal S of `scale` (None: ones), and the first `own` rows of x, whose gradient is added to that of the sums where it is."""

    @staticmethod
    def forward(ctx: Any, x: Any, adjacency: Any, scale: Any, own: int) -> Any:
        ctx.adjacency, ctx.scale, ctx.own = adjacency, scale, own
        ctx.shape = x.shape
        ctx.set_materialize_grads(False)
        out = _sums(x, scale, *adjacency.by_target[:2])
        return out, x.narrow(0, 0, own)

    @staticmethod
    def backward(ctx: Any, grad: Any, own_grad: Any) -> Any:
        adjacency = ctx.adjacency
        if grad is None:
            if own_grad is None:
                return None, None, None, None
            return torch.nn.functional.pad(own_grad, (0, 0, 0, ctx.shape[0] - ctx.own)), None, None, None
        grad = grad if ctx.scale is None else grad * ctx.scale.unsqueeze(1)
        if torch.is_grad_enabled() or not _is_eager(grad):
            dx = call_spmm(grad.unsqueeze(1), None, *adjacency.by_source, *adjacency.by_target).squeeze(1)
            dx = dx if own_grad is None else dx + torch.nn.functional.pad(own_grad, (0, 0, 0, ctx.shape[0] - ctx.own))
            return dx, None, None, None
        dx = _sums(grad, None, *adjacency.by_source[:2])
        if own_grad is not None:
            dx.narrow(0, 0, ctx.own).add_(own_grad)
        return dx, None, None, None


def takes_sums(x: Any) -> bool:
    """Whether call_sums() computes these rows."""
    return _is_eager(x) and x.dim() == 2 and x.layout == torch.strided and x.shape[1] > 0 and _is_for_engine(x)


def call_sums(adjacency: Any, x: Any, scale: Any, own: int) -> tuple[Any, Any]:
    """Sums of x's rows over in-edges, multiplied by `scale`, a factor a target (None: by ones), and x's first `own` rows: what a layer needs that treats targets apart. Where takes_sums() says so."""
    if _need_gradients(x):
        return _Sums.apply(x, adjacency, scale, own)  # type: ignore[no-any-return]
    return _sums(x, scale, *adjacency.by_target[:2]), x.narrow(0, 0, own)


def gather_rows(table: Any, ids: Any) -> Any:
    """table[ids], of rows of a multiple of 4 bytes that are one after the other, on a GPU; ids: int64, all within, on it too. Without gradients; a third of the time of index_select()."""
    if ids.device != table.device:
        raise ValueError(f"ids: got a tensor on {ids.device}, expected one on {table.device}, where the table is")
    ids = ids.contiguous()
    out = table.new_empty((ids.numel(), *table.shape[1:]))
    if out.numel() > 0:
        row_bytes = out.element_size() * out.numel() // ids.numel()
        _core.rows_gather(table.device.index, _stream(table), table.data_ptr(), table.shape[0], row_bytes, ids.data_ptr(), ids.numel(), out.data_ptr())
    return out


def _keep_spmm(ctx: Any, inputs: Any, output: Any) -> None:
    x, values, *structures = inputs
    ctx.save_for_backward(x if values is not None else None, values, *structures)


def _spmm_backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    x, values, *structures = ctx.saved_tensors
    turned = structures[3:] + structures[:3]
    dx = call_spmm(grad, values, *turned) if ctx.needs_input_grad[0] else None
    dvalues = call_sddmm(grad, x, *structures) if values is not None and ctx.needs_input_grad[1] else None
    return (dx, dvalues, *[None] * 6)


def _keep_all(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _sddmm_backward(ctx: Any, grad: Any) -> tuple[Any, ...]:
    x, y, *structures = ctx.saved_tensors
    turned = structures[3:] + structures[:3]
    dx = call_spmm(y, grad, *structures) if ctx.needs_input_grad[0] else None
    dy = call_spmm(x, grad, *turned) if ctx.needs_input_grad[1] else None
    return (dx, dy, *[None] * 6)


spmm.register_autograd(_spmm_backward, setup_context=_keep_spmm)
sddmm.register_autograd(_sddmm_backward, setup_context=_keep_all)


def _shortest(operator: Any, run: Any, keep: Any, back: Any) -> Any:
    """`operator` by the shortest way: past the dispatcher, which takes longer than a small product, where nobody looks on."""
    class Short(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            keep(ctx, inputs, None)
            return run(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return back(ctx, grad)

    def call(x: Any, y: Any, *structures: Any) -> Any:
        if not _is_eager(x, y):
            return operator(x, y, *structures)
        return Short.apply(x, y, *structures) if _need_gradients(x, y) else run(x, y, *structures)

    return call


call_spmm = _shortest(spmm, _spmm, _keep_spmm, _spmm_backward)
call_sddmm = _shortest(sddmm, _sddmm, _keep_all, _sddmm_backward)


def _edge_softmax(x: Any, ptr: Any, edge: Any) -> Any:
    check_device("x", x, ptr)
    if _is_small(x):
        return _edge_softmax(x.float(), ptr, edge).to(x.dtype)
    out = torch.empty_like(x, memory_format=torch.contiguous_format)
    sorted_x = x[edge]
    if _is_for_engine(x):
        if x.numel() > 0:
            found = torch.empty_like(sorted_x)
            _core.rows_softmax(_rows(ptr, x.shape[0], None, None, None), x.shape[1], sorted_x.data_ptr(), found.data_ptr())
            out.index_copy_(0, edge, found)
        return out
    rows, shape = _entry_rows(ptr, x.shape[0]), (ptr.numel() - 1, x.shape[1])
    most = _largest(sorted_x, rows, shape)
    raised = (sorted_x - most[rows]).exp()
    out[edge] = raised / x.new_zeros(shape).index_add_(0, rows, raised)[rows]
    return out


def _edge_softmax_backward(y: Any, dy: Any, ptr: Any, edge: Any) -> Any:
    check_device("y", y, ptr)
    check_device("dy", dy, ptr)
    if _is_small(y) or _is_small(dy):
        return _edge_softmax_backward(y.float(), dy.float(), ptr, edge).to(y.dtype)
    out = torch.empty_like(y, memory_format=torch.contiguous_format)
    sorted_y, sorted_dy = y[edge], dy[edge]
    if _is_for_engine(y):
        if y.numel() > 0:
            found = torch.empty_like(sorted_y)
            _core.rows_softmax_backward(_rows(ptr, y.shape[0], None, None, None), y.shape[1], sorted_y.data_ptr(), sorted_dy.data_ptr(), found.data_ptr())
            out.index_copy_(0, edge, found)
        return out
    rows = _entry_rows(ptr, y.shape[0])
    sums = y.new_zeros((ptr.numel() - 1, y.shape[1])).index_add_(0, rows, sorted_y * sorted_dy)
    out[edge] = sorted_y * (sorted_dy - sums[rows])
    return out


def _fake_edge_softmax(x: Any, ptr: Any, edge: Any) -> Any:
    check_device("x", x, ptr)
    return x.new_empty(x.shape)


edge_softmax = _define("edge_softmax", "(Tensor x, Tensor ptr, Tensor edge) -> Tensor", _edge_softmax, _fake_edge_softmax)
edge_softmax_backward = _define("edge_softmax_backward", "(Tensor y, Tensor dy, Tensor ptr, Tensor edge) -> Tensor", _edge_softmax_backward,
                                lambda y, dy, ptr, edge: y.new_empty(y.shape))


def _keep_softmax(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(output, inputs[1], inputs[2])


def _softmax_gradient(ctx: Any, grad: Any) -> tuple[Any, ...]:
    y, ptr, edge = ctx.saved_tensors
    return edge_softmax_backward(y, grad, ptr, edge), None, None


edge_softmax.register_autograd(_softmax_gradient, setup_context=_keep_softmax)


def _row_max(x: Any, ptr: Any, other: Any) -> tuple[Any, Any]:
    """The largest x[other[e]] of the entries e of each row, and which row of x it is of; 0 and -1 for a row without entries."""
    check_device("x", x, ptr)
    if _is_small(x):
        found, arg = _row_max(x.float(), ptr, other)
        return found.to(x.dtype), arg
    shape = (ptr.numel() - 1, x.shape[1])
    out, arg = x.new_empty(shape), torch.empty(shape, dtype=torch.int32, device=x.device)
    if _is_for_engine(x):
        if out.numel() > 0:
            x = x.contiguous()
            _core.rows_max(_rows(ptr, other.numel(), other, None, None), x.shape[1], x.data_ptr(), out.data_ptr(), arg.data_ptr())
        return out, arg
    rows = _entry_rows(ptr, other.numel())
    ends = x[other.long()]
    # As the engine: NaN is smaller than any number, and the largest of NaNs alone.
    is_number = ~ends.isnan()
    out = _largest(torch.where(is_number, ends, -torch.inf), rows, shape)
    has_number = _largest(is_number.to(x.dtype), rows, shape) > 0
    out = torch.where(has_number, out, torch.nan)
    # The first entry among equals.
    places = torch.arange(other.numel(), device=x.device).unsqueeze(-1).expand_as(ends)
    is_largest = torch.where(has_number[rows], is_number & (ends == out[rows]), ~is_number)
    first = torch.full(shape, other.numel(), device=x.device).scatter_reduce_(0, rows.unsqueeze(-1).expand_as(ends), torch.where(is_largest, places, other.numel()), "amin")
    is_there = first < other.numel()
    padded = torch.cat([other, other.new_full((1,), -1)])
    return torch.where(is_there, out, 0), padded[first]


def _fake_row_max(x: Any, ptr: Any, other: Any) -> tuple[Any, Any]:
    check_device("x", x, ptr)
    shape = (ptr.shape[0] - 1, x.shape[1])
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int32)


row_max = _define("row_max", "(Tensor x, Tensor ptr, Tensor other) -> (Tensor, Tensor)", _row_max, _fake_row_max)


def _keep_max(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(output[1])
    ctx.rows = inputs[0].shape[0]
    ctx.set_materialize_grads(False)


def _max_gradient(ctx: Any, grad: Any, _: Any) -> tuple[Any, ...]:
    (arg,) = ctx.saved_tensors
    if grad is None:
        return None, None, None
    places = torch.where(arg < 0, ctx.rows, arg).long()
    return grad.new_zeros((ctx.rows + 1, grad.shape[1])).scatter_add(0, places, grad)[:-1], None, None


row_max.register_autograd(_max_gradient, setup_context=_keep_max)


def _segments(ptr: Any, rows: int) -> Any:
    """A copy of `ptr`, which is one of `rows` rows, as int64. On a GPU it waits."""
    if not bool((ptr[0] == 0) & (ptr[-1] == rows) & (ptr[1:] >= ptr[:-1]).all()):
        raise ValueError(f"ptr: got one from {int(ptr[0])} to {int(ptr[-1])}, expected one that ascends from 0 to the {rows} rows of x")
    return ptr.to(torch.long, copy=True)


segments = _define("segments", "(Tensor ptr, SymInt rows) -> Tensor", _segments, lambda ptr, rows: ptr.new_empty(ptr.shape, dtype=torch.long))


def call_segments(ptr: Any, rows: int) -> Any:
    """The same by the shortest way, as call_spmm()."""
    return _segments(ptr, rows) if _is_eager(ptr) else segments(ptr, rows)


def _gather(table: Any, ids: Any, sparse_grad: bool) -> Any:
    flat = ids.reshape(-1)
    if flat.numel() > 0:
        low, high = torch.stack([flat.amin(), flat.amax()]).tolist()
        if low < 0 or high >= table.shape[0]:
            raise IndexError(f"ids: got {low if low < 0 else high}, expected rows of 0 to {table.shape[0] - 1}")
    return table.index_select(0, flat).reshape(*ids.shape, *table.shape[1:])


gather = torch.library.custom_op("warren::gather", _gather, mutates_args=(), schema="(Tensor table, Tensor ids, bool sparse_grad) -> Tensor")
gather.register_fake(lambda table, ids, sparse_grad: table.new_empty((*ids.shape, *table.shape[1:])))


def _keep_gather(ctx: Any, inputs: Any, output: Any) -> None:
    table, ids, ctx.is_sparse = inputs
    ctx.shape = table.shape
    ctx.save_for_backward(ids)


def _gather_gradient(ctx: Any, grad: Any) -> tuple[Any, ...]:
    (ids,) = ctx.saved_tensors
    flat, rows = ids.reshape(-1).long(), grad.reshape(ids.numel(), *ctx.shape[1:])
    if ctx.is_sparse:
        return torch.sparse_coo_tensor(flat.unsqueeze(0), rows, ctx.shape, check_invariants=False), None, None
    return grad.new_zeros(ctx.shape).index_add(0, flat, rows), None, None


gather.register_autograd(_gather_gradient, setup_context=_keep_gather)
