"""A Numba type that reads a row as the dataclass it came from.

In compiled code `state.clock += 1` and `state.pulls[arm]` then mean what they mean in plain Python. Rows
travel as bare pointers, so that every policy has the same two function types and one driver serves all.
"""

from typing import Any

from numba import types
from numba.core import cgutils, errors
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import make_array, populate_array

from afterglow.engine.layout import layout

CELLS = types.CPointer(types.float64)  # a row's first cell: a bare pointer, so no reference counting
CELL = {"int64": types.int64, "float64": types.float64}


class View(types.Type):
    """A dataclass laid over a row."""

    def __init__(self, kind: type) -> None:
        shape = layout(kind)
        self.scalars = {name: CELL[cell] for name, cell in shape.scalars}
        self.lists = {name: CELL[cell] for name, cell in shape.lists}
        self.frozen = kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        super().__init__(name=f"View({shape}, frozen={self.frozen})")


@register_model(View)
class ViewModel(models.StructModel):
    def __init__(self, manager: Any, view: View) -> None:
        super().__init__(manager, view, [("cells", CELLS)])


@infer_getattr
class ViewFields(AttributeTemplate):
    key = View

    def generic_resolve(self, view: View, name: str) -> Any:
        if name in view.scalars:
            return view.scalars[name]
        if name in view.lists:
            return types.Array(view.lists[name], 1, "C")
        return None


def cell_at(context: Any, builder: Any, first: Any, place: Any, cell: Any) -> Any:
    """Pointer to the cell at `place`, read as type `cell`."""
    return builder.bitcast(builder.gep(first, [place]), context.get_value_type(cell).as_pointer())


@lower_getattr_generic(View)
def get_field(context: Any, builder: Any, view: View, value: Any, name: str) -> Any:
    def whole(number: int) -> Any:
        return context.get_constant(types.int64, number)

    first = cgutils.create_struct_proxy(view)(context, builder, value=value).cells
    if name in view.scalars:
        place = whole(list(view.scalars).index(name))
        return builder.load(cell_at(context, builder, first, place, view.scalars[name]))
    head = len(view.scalars) + 2 * list(view.lists).index(name)
    begin = builder.load(cell_at(context, builder, first, whole(head), types.int64))
    size = builder.load(cell_at(context, builder, first, whole(head + 1), types.int64))
    array = make_array(types.Array(view.lists[name], 1, "C"))(context, builder)
    data = cell_at(context, builder, first, begin, view.lists[name])
    eight = context.get_constant(types.intp, 8)
    populate_array(array, data=data, shape=[size], strides=[eight], itemsize=eight, meminfo=None)
    return array._getvalue()


@lower_setattr_generic(View)
def set_field(context: Any, builder: Any, signature: Any, args: Any, name: str) -> None:
    view = signature.args[0]
    if view.frozen or name in view.lists:
        raise errors.TypingError(f"can't assign to {name}: settings are fixed and a list is changed in place")
    first = cgutils.create_struct_proxy(view)(context, builder, value=args[0]).cells
    place = context.get_constant(types.int64, list(view.scalars).index(name))
    builder.store(args[1], cell_at(context, builder, first, place, view.scalars[name]))


def over(kind: type) -> Any:
    """A compiled-code function from a row's first cell to the view of a dataclass."""
    view = View(kind)

    @intrinsic
    def view_of(typing: Any, cells: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            held = cgutils.create_struct_proxy(view)(context, builder)
            (held.cells,) = args
            return held._getvalue()

        return view(CELLS), build

    return view_of


@intrinsic
def first_cell(typing: Any, row: Any) -> Any:
    """Pointer to a row's first cell; the caller keeps the row alive."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return make_array(signature.args[0])(context, builder, args[0]).data

    return CELLS(row), build
