// Recording: an operation on arrays becomes a node. Errors of shape and dtype are thrown here, at
// the caller's line.
#include "array/operations.h"

#include <algorithm>

#include "array/promotion.h"
#include "base/text.h"
#include "treadle/error.h"

namespace td {
namespace array {
namespace {

using base::cat;
using base::tuple_text;

std::shared_ptr<Storage> storage_of(const Input& input) {
  if (input.kind == Input::Kind::leaf || input.view.storage) return input.view.storage;
  return input.node->fresh.lock();
}

// In-place work is done element by element in one pass; that is right only if every operand in the
// same memory is either the very elements that are written or none of them.
bool needs_temporary(const Node& node, const View& out) {
  Extent written = out.extent();
  for (int k = 0; k < node.arity; ++k) {
    const Input& input = node.inputs[k];
    if (input.kind == Input::Kind::scalar || storage_of(input) != out.storage) continue;
    if (input.view.shape == out.shape && input.view.offset == out.offset &&
        input.view.dtype == out.dtype && same_steps(input.view, out))
      continue;
    Extent seen = input.view.extent();
    if (seen.begin < written.end && written.begin < seen.end) return true;
  }
  return false;
}

Strides result_strides(const Node& node, std::size_t bytes) {
  const Strides* operands[3];
  std::size_t count = 0;
  bool plain = true;
  for (int k = 0; k < node.arity; ++k) {
    const Input& input = node.inputs[k];
    if (input.kind == Input::Kind::scalar) continue;
    operands[count++] = &input.view.strides;
    plain = plain && is_contiguous(node.shape, input.view.strides, itemsize(input.view.dtype), 'C');
  }
  if (plain || node.shape.size() < 2) return contiguous_strides(node.shape, bytes);
  return keep_order_strides(node.shape, {operands, count}, bytes);
}

Array record_fresh(const std::shared_ptr<driver::DeviceState>& device, NodePtr node, DType dtype,
                   const Strides& strides) {
  View view = fresh_view(device, node->kind == Node::Kind::reduce ? node->out.shape : node->shape,
                         strides, dtype);
  node->out.shape = view.shape;
  node->out.strides = strides;
  node->out.dtype = dtype;
  node->fresh = view.storage;
  Array array = make_array(std::move(view));
  Storage& storage = *view_of(array).storage;
  if (storage.bytes() > 0) record(device, std::move(node), storage);
  return array;
}

void record_in_place(NodePtr node, const View& out) {
  if (size_of(out.shape) == 0) return;
  if (!needs_temporary(*node, out)) {
    node->out = out;
    record(out.storage->device(), std::move(node), *out.storage);
    return;
  }
  DType kept = node->result;
  Strides strides = contiguous_strides(node->shape, itemsize(kept));
  Array temporary = record_fresh(out.storage->device(), std::move(node), kept, strides);
  copy_into(make_array(out), temporary);
}

// A node that casts its one input to `dtype`; the caller sets that input.
NodePtr copy_node(const Shape& shape, DType dtype) {
  auto node = std::make_unique<Node>();
  node->kind = Node::Kind::copy;
  node->inputs[0].loop = dtype;
  node->result = dtype;
  node->shape = shape;
  return node;
}

// NumPy lets a value have more leading axes of length 1 than its destination.
View without_leading_ones(View view, std::size_t ndim) {
  while (view.shape.size() > ndim && view.shape.front() == 1) {
    view.shape.erase(view.shape.begin());
    view.strides.erase(view.strides.begin());
  }
  return view;
}

const std::shared_ptr<driver::DeviceState>& device_of(std::string_view operation,
                                                      std::span<const OperandRef> operands,
                                                      const Array& out) {
  const std::shared_ptr<driver::DeviceState>* device = nullptr;
  auto visit = [&](const Array& array) {
    const auto& d = view_of(array).storage->device();
    if (device && *device != d)
      throw ValueError(cat(operation, "(): operands are on different devices, ", (*device)->name(),
                           " and ", d->name(), "; copy one of them over first"));
    device = &d;
  };
  for (const OperandRef& operand : operands)
    if (operand.array) visit(*operand.array);
  if (out) visit(out);
  if (!device) throw TypeError(cat(operation, "() needs at least one array operand"));
  return *device;
}

// `op` as a node that is not recorded yet: all but where its value goes. Within a Recording.
NodePtr map_node(Op op, std::span<const OperandRef> operands, const Array& out, const Loop& loop) {
  const Shape* shapes[kMostOperands + 1];
  std::size_t arrays = 0;
  for (const OperandRef& operand : operands)
    if (operand.array) shapes[arrays++] = &operand.array->shape();
  if (out) shapes[arrays++] = &out.shape();
  auto node = std::make_unique<Node>();
  node->kind = Node::Kind::map;
  node->op = op;
  node->arity = static_cast<int>(operands.size());
  node->result = loop.result;
  node->shape = broadcast_shapes({shapes, arrays});
  for (std::size_t k = 0; k < operands.size(); ++k) {
    Input& input = node->inputs[k];
    if (operands[k].array) {
      read(input, view_of(*operands[k].array), node->shape, loop.inputs[k]);
    } else {
      input.kind = Input::Kind::scalar;
      input.scalar = *operands[k].scalar;
      input.loop = loop.inputs[k];
    }
  }
  return node;
}

Array record_map(const std::shared_ptr<driver::DeviceState>& device, NodePtr node) {
  DType result = node->result;
  Strides strides = result_strides(*node, itemsize(result));
  return record_fresh(device, std::move(node), result, strides);
}

}  // namespace

bool same_steps(const View& a, const View& b) {
  for (std::size_t k = 0; k < a.shape.size(); ++k)
    if (a.shape[k] > 1 && a.strides[k] != b.strides[k]) return false;
  return true;
}

Array converted(const Array& x, DType dtype, char order) {
  const View& v = view_of(x);
  std::size_t bytes = itemsize(dtype);
  Recording recording(v.storage->device());
  if (order == 'A') order = x.f_contiguous() && !x.c_contiguous() ? 'F' : 'C';
  auto node = copy_node(v.shape, dtype);
  read(node->inputs[0], v, v.shape, dtype);
  if (order != 'C' && order != 'F' && order != 'K')
    throw ValueError(cat("order must be one of 'C', 'F', 'A', or 'K' (got '", order, "')"));
  Strides strides =
      order == 'K' ? result_strides(*node, bytes) : contiguous_strides(v.shape, bytes, order);
  return record_fresh(v.storage->device(), std::move(node), dtype, strides);
}

Array packed(const Array& x) { return x.c_contiguous() ? x : converted(x, x.dtype(), 'C'); }

Array packed_values(const Array& x) {
  return x.dtype() == DType::bool_ ? converted(x, x.dtype(), 'C') : packed(x);
}

namespace {

void check_out_shape(const Array& out, const Shape& shape) {
  if (!out.writeable()) throw ValueError("output array is read-only");
  if (out.shape() != shape)
    throw ValueError(cat("non-broadcastable output operand with shape ", tuple_text(out.shape()),
                         " doesn't match the broadcast shape ", tuple_text(shape)));
}

}  // namespace

void check_out(std::string_view operation, const Array& out, const Shape& shape, DType result) {
  check_out_shape(out, shape);
  check_output_cast(operation, result, out.dtype());
}

void check_reduction_out(const ReductionInfo& row, const Array& out, const Shape& shape) {
  check_out_shape(out, shape);
  if (row.takes_one_axis() && !can_cast(out.dtype(), DType::int64, Casting::safe))
    throw TypeError(
        cat(row.name, ": out must have a dtype that int64 holds, not ", info(out.dtype()).numpy));
}

Axes reduced_axes(const ReductionInfo& row, const std::optional<Axes>& axes, int ndim) {
  Axes all(ndim);
  for (int k = 0; k < ndim; ++k) all[k] = k;
  if (!axes) return all;
  bool positional = row.takes_one_axis();
  if (positional && axes->size() != 1)
    throw TypeError(cat(row.name, "() takes one axis, or none for the flattened array"));
  // As NumPy's ufuncs: the one number is its own axis; mean is no ufunc.
  bool own_axis = axes->size() == 1 && (axes->front() == 0 || axes->front() == -1);
  if (ndim == 0 && own_axis && row.reduction != Reduction::mean) return {};
  return normalize_axes(*axes, ndim);
}

}  // namespace array

using array::Input;
using array::Node;
using array::View;
using array::view_of;

Array apply(Op op, std::span<const OperandRef> operands, const Array& out,
            std::optional<DType> dtype) {
  const auto& device = array::device_of(info(op).name, operands, out);
  array::Loop loop = array::resolve(op, operands, dtype);
  array::Recording recording(device);
  array::NodePtr node = array::map_node(op, operands, out, loop);
  if (!out) return array::record_map(device, std::move(node));
  array::check_out(info(op).name, out, node->shape, loop.result);
  array::record_in_place(std::move(node), view_of(out));
  return out;
}

Array try_apply(Op op, std::span<const OperandRef> operands) {
  const auto& device = array::device_of(info(op).name, operands, {});
  array::Loop loop = array::resolve(op, operands, {});
  array::Recording recording(device, array::Recording::IfFree());
  if (!recording) return {};
  return array::record_map(device, array::map_node(op, operands, {}, loop));
}

Array apply(Op op, std::span<const Operand> operands, const Array& out,
            std::optional<DType> dtype) {
  array::check_operand_count(op, operands.size());
  OperandRef refs[kMostOperands];
  std::copy(operands.begin(), operands.end(), refs);
  return apply(op, std::span<const OperandRef>(refs, operands.size()), out, dtype);
}

void copy_into(const Array& out, const Operand& value) {
  const View& target = view_of(out);
  if (!out.writeable()) throw ValueError("assignment destination is read-only");
  array::Recording recording(target.storage->device());
  array::NodePtr node = array::copy_node(target.shape, target.dtype);
  Input& input = node->inputs[0];
  if (const Array* a = std::get_if<Array>(&value)) {
    View source = array::without_leading_ones(view_of(*a), target.shape.size());
    if (source.storage->device() != target.storage->device())
      throw ValueError("the value is on another device; copy it over first");
    if (source.shape != target.shape)
      source.strides = array::broadcast_strides(source.shape, source.strides, target.shape);
    source.shape = target.shape;
    if (source.same_elements(target)) return;
    array::read(input, source, target.shape, target.dtype);
  } else {
    const Scalar& scalar = std::get<Scalar>(value);
    array::check_storable(scalar, target.dtype);
    input.kind = Input::Kind::scalar;
    input.scalar = scalar;
  }
  array::record_in_place(std::move(node), target);
}

namespace {

// Only the reduced length matters, also where there are no results.
void check_not_empty(const ReductionInfo& row, std::int64_t count) {
  if (row.identity || count > 0) return;
  if (row.takes_one_axis())
    throw ValueError(base::cat("attempt to get ", row.label, " of an empty sequence"));
  throw ValueError(
      base::cat("zero-size array to reduction operation ", row.label, " which has no identity"));
}

// `correction` is taken off the number of elements.
Array reduce_corrected(Reduction reduction, const Array& x, const std::optional<Axes>& axes,
                       bool keepdims, std::optional<DType> dtype, const Array& out,
                       double correction) {
  const ReductionInfo& row = info(reduction);
  const View& v = view_of(x);
  auto types =
      array::resolve(reduction, v.dtype, dtype, out ? std::optional(out.dtype()) : std::nullopt);
  int ndim = x.ndim();
  auto node = std::make_unique<Node>();
  node->kind = Node::Kind::reduce;
  node->reduction = reduction;
  node->correction = correction;
  node->shape = v.shape;
  node->reduced.assign(ndim, false);
  for (int axis : array::reduced_axes(row, axes, ndim)) node->reduced[axis] = true;
  Shape kept, shown;
  std::int64_t count = 1;
  for (int k = 0; k < ndim; ++k) {
    if (node->reduced[k])
      count *= v.shape[k];
    else
      kept.push_back(v.shape[k]);
    if (!node->reduced[k] || keepdims) shown.push_back(node->reduced[k] ? 1 : v.shape[k]);
  }
  check_not_empty(row, count);
  if (out) array::check_reduction_out(row, out, shown);
  array::Recording recording(v.storage->device());
  array::read(node->inputs[0], v, v.shape, types.input);
  node->result = types.result;
  node->out.shape = kept;
  auto strides = array::contiguous_strides(kept, itemsize(types.result));
  Array result = array::record_fresh(v.storage->device(), std::move(node), types.result, strides);
  if (row.result == ReductionInfo::Result::index && row.takes_one_axis() && count > 0)
    view_of(result).storage->know_range({types.result, 0, count - 1, false});
  if (keepdims) result = result.reshape(shown);
  if (!out) return result;
  copy_into(out, result);
  return out;
}

}  // namespace

Array reduce(Reduction reduction, const Array& x, const std::optional<Axes>& axes, bool keepdims,
             std::optional<DType> dtype, const Array& out) {
  return reduce_corrected(reduction, x, axes, keepdims, dtype, out, 0);
}

Array var(const Array& x, const std::optional<Axes>& axes, double ddof, bool keepdims,
          std::optional<DType> dtype) {
  return reduce_corrected(Reduction::var, x, axes, keepdims, dtype, {}, ddof);
}

}  // namespace td
