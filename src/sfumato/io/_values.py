"""The canonical text of a value, the same for every kind of dataframe and file format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import SchemaError
from sfumato.io._type_inference import NUMBER

SURE_DIGITS = 15  # a float64 tells all decimals of so many digits apart
SMALLEST_PLAIN_FLOAT = 1e-4  # Python's repr writes smaller numbers with an exponent


def format_value(value: object) -> str:  # noqa: PLR0911 - one line per type
    """Return the canonical text of a value that is not missing.

    Numbers lose a trailing ".0", dates are ISO, datetimes have a "T" and are in UTC if they had a time zone.

    >>> [format_value(value) for value in (39, 39.0, 0.5, 1e-05, True, "a b")]
    ['39', '39', '0.5', '1e-05', 'true', 'a b']
    >>> format_value(date(1984, 2, 29)), format_value(datetime(1984, 2, 29, 10, 30))
    ('1984-02-29', '1984-02-29T10:30:00')
    """
    if isinstance(value, np.datetime64):
        rounded = value.astype("datetime64[us]")
        value = rounded if rounded == value else str(value)
    if isinstance(value, np.generic):
        value = value.item()
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if value == value:  # noqa: PLR0124 - only NaN differs from itself
            return _format_float(value)
        case Decimal() if value.is_finite():
            return _format_decimal(value)
        case datetime():
            naive = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
            return naive.isoformat()
        case date() | time():
            return value.isoformat()
    msg = f"a value of type {type(value).__name__} has no canonical text"
    raise TypeError(msg)


def parse_number(written: str) -> int | float | str:
    """Read a number, whole if it can be; what is none stays as it is written.

    >>> [parse_number("5"), parse_number("0.5"), parse_number("month")]
    [5, 0.5, 'month']
    """
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written


def format_values(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the canonical text of every element; missing values stay missing.

    >>> format_values(pa.array([1.0, None, 2.5])).to_pylist()
    ['1', None, '2.5']
    """
    if pa.types.is_string(array.type):
        return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    distinct, codes = encode_distinct(array)
    return format_distinct_values(distinct).take(codes)


def equal_texts(one: pa.Array | pa.ChunkedArray, two: pa.Array | pa.ChunkedArray) -> pa.BooleanArray:
    """Return, cell by cell, whether two columns have the same canonical text, or are both missing.

    >>> equal_texts(pa.array([1.0, None, None]), pa.array(["1", None, "2"])).to_pylist()
    [True, True, False]
    """
    first, second = format_values(one), format_values(two)
    same = pc.fill_null(pc.equal(first, second), fill_value=False)
    return pc.or_(same, pc.and_(first.is_null(), second.is_null()))


def encode_distinct(array: pa.Array | pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct values of a column and, for every element, its index among them.

    >>> distinct, codes = encode_distinct(pa.chunked_array([["b", "a"], ["a", None]]))
    >>> distinct.to_pylist(), codes.to_pylist()
    (['b', 'a'], [0, 1, 1, None])
    """
    if not len(array):
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        return pa.array([], kind), pa.array([], pa.int32())
    encoded = dictionary_encode(array)
    return encoded.dictionary, encoded.indices


def dictionary_encode(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """Code a column as one array; its values are numbered as they first come.

    Chunks are joined before they are coded, unless they hold more than 2 GB of text: joining dictionaries, one for
    every chunk, takes several times as long where values are many.

    >>> dictionary_encode(pa.chunked_array([["b", "a"], ["a", None]])).indices.to_pylist()
    [0, 1, 1, None]
    """
    chunked = isinstance(column, pa.ChunkedArray)
    joined = column.combine_chunks() if chunked and not pa.types.is_dictionary(column.type) else column
    found = joined.dictionary_encode()
    return found.unify_dictionaries().combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def reorder_dictionary(encoded: pa.DictionaryArray, order: npt.NDArray[np.int64] | None = None) -> pa.DictionaryArray:
    """Put coded cells in an order, and number their values as these first come there, as if they were coded anew.

    >>> reorder_dictionary(pa.array(["b", "a", None, "b"]).dictionary_encode(), np.array([1, 2,
    ...     3])).dictionary.to_pylist()
    ['a', 'b']
    """
    width = len(encoded.dictionary)
    codes = encoded.indices.fill_null(width).to_numpy(zero_copy_only=False)
    codes = codes if order is None else codes[order]
    first = np.full(width + 1, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    seen = np.argsort(first[:width], kind="stable")[: np.count_nonzero(first[:width] < len(codes))]
    number = np.full(width + 1, len(seen), dtype=np.int32)
    number[seen] = np.arange(len(seen), dtype=np.int32)
    missing = codes == width if encoded.indices.null_count else None
    return pa.DictionaryArray.from_arrays(
        pa.array(number[codes], mask=missing), encoded.dictionary.take(pa.array(seen))
    )


def count_missing(column: pa.ChunkedArray, weights: npt.NDArray[np.int64] | None = None) -> int:
    """Count the missing cells of a column, or the records that they stand for."""
    if weights is None:
        return int(column.null_count)
    return int(weights[np.asarray(column.is_null())].sum())


def count_distinct(column: pa.ChunkedArray) -> int:
    """Count the different cells of a canonical column that are not missing; real numbers are sorted, not hashed.

    >>> count_distinct(pa.chunked_array([[0.5, None], [2.5, 0.5]]))
    2
    """
    if not pa.types.is_floating(column.type) or column.null_count == len(column):
        return int(pc.count_distinct(column).as_py())
    ascending = np.sort(column.drop_null().to_numpy())
    return 1 + int(np.count_nonzero(ascending[1:] != ascending[:-1]))


def format_distinct_values(values: pa.Array) -> pa.Array:
    """Return the canonical text of values that are already distinct."""
    kind = values.type
    if pa.types.is_floating(kind):
        return _format_floats(values.cast(pa.float64()))
    if pa.types.is_decimal(kind):
        return pa.array([None if value is None else format_value(value) for value in values.to_pylist()], pa.string())
    if pa.types.is_timestamp(kind):
        naive = values.cast(pa.timestamp("us", kind.tz)).cast(pa.timestamp("us"))
        return _without_zero_fraction(pc.replace_substring(naive.cast(pa.string()), " ", "T"))
    if pa.types.is_time(kind):
        return _without_zero_fraction(values.cast(pa.time64("us")).cast(pa.string()))
    return values.cast(pa.string())


def format_zoned_values(values: pa.Array) -> pa.Array:
    """Write moments in their time zone, with its offset from UTC.

    >>> format_zoned_values(pa.array([0], pa.timestamp("us", "Europe/Berlin"))).to_pylist()
    ['1970-01-01T01:00:00+01:00']
    """
    written = pc.strftime(values, format="%Y-%m-%dT%H:%M:%S%z")
    return pc.replace_substring_regex(written, r"(?:\.0+)?([+-][0-9]{2})([0-9]{2})\z", r"\1:\2")


def _without_zero_fraction(written: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(written, r"\.0+\z", "")


def _format_decimal(value: Decimal) -> str:
    """Write a decimal as the number that means the same, or with all its digits if there is none."""
    if value == value.to_integral_value():
        return str(int(value))
    near = _format_float(float(value))
    return near if Decimal(near) == value else f"{value.normalize():f}"


def decimals_to_exact_floats(written: pa.Array) -> pa.Array | None:
    """Return decimals, written out, as floats that are written the same; None if one of them is not.

    Up to 15 digits always are; so only longer ones are looked at one by one.

    >>> decimals_to_exact_floats(pa.array(["0.29", "1E-7", "12345678901234.50"])).to_pylist()
    [0.29, 1e-07, 12345678901234.5]
    >>> decimals_to_exact_floats(pa.array(["0.12345678901234567890"])) is None
    True
    """
    floats = written.cast(pa.float64())
    digits = pc.replace_substring_regex(written, r"[eE].*\z|\A-?0*\.?0*|\.", "")
    long = pc.fill_null(pc.greater(pc.utf8_length(digits), SURE_DIGITS), fill_value=False)
    pairs = zip(written.filter(long).to_pylist(), floats.filter(long).to_pylist(), strict=True)
    return floats if all(Decimal(repr(near)) == Decimal(exact) for exact, near in pairs) else None


def _format_float(value: float) -> str:
    return repr(value + 0.0).removesuffix(".0")


def _format_floats(values: pa.Array) -> pa.Array:
    """Let Arrow format the numbers where it agrees with Python's repr, and Python format the others."""
    values = pc.add(pc.if_else(pc.is_nan(values), None, values), 0.0)
    written = values.cast(pa.string())
    otherwise = pc.or_(pc.match_substring(written, "e"), pc.less(pc.abs(values), SMALLEST_PLAIN_FLOAT))
    otherwise = pc.fill_null(otherwise, fill_value=False)
    rest = [_format_float(value) for value in values.filter(otherwise).to_pylist()]
    return pc.replace_with_mask(written, otherwise, pa.array(rest, pa.string()))


# Numbers and datetimes of canonical columns as real numbers.

Numbers = npt.NDArray[np.float64]

LARGEST = 1e100  # sums of squares of larger numbers might exceed the range of float64
DAY = 86_400_000_000  # in microseconds


def is_metric_type(type_: pa.DataType) -> bool:
    """Return whether values of a canonical type are numbers or datetimes.

    >>> is_metric_type(pa.date32()), is_metric_type(pa.bool_())
    (True, False)
    """
    return bool(not pa.types.is_string(type_) and not pa.types.is_boolean(type_))


def has_huge(column: pa.Array | pa.ChunkedArray) -> bool:
    """Return whether sums of squares of some numbers might exceed the range of float64.

    >>> has_huge(pa.array([1e101, None])), has_huge(pa.array([1e100])), has_huge(pa.array([10**18]))
    (True, False, False)
    """
    return bool(pa.types.is_floating(column.type) and (pc.max(pc.abs(column)).as_py() or 0.0) > LARGEST)


def refuse_huge(table: pa.Table, names: Iterable[str]) -> None:
    """Refuse numbers whose sums of squares might exceed the range of float64, as marks of missing values do."""
    for name in names:
        if has_huge(table.column(name)):
            raise SchemaError(
                f"Column {name!r} contains numbers beyond 1e100; measure it in a larger unit, or empty the cells where "
                "they stand for missing values."
            )


def to_numbers(column: pa.ChunkedArray) -> Numbers:
    """Return numbers unchanged and datetimes in days; an empty cell is NaN.

    >>> to_numbers(pa.chunked_array([["1970-01-03", None]]).cast(pa.date32())).tolist()
    [2.0, nan]
    """
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    if pa.types.is_timestamp(column.type):
        return np.asarray(column.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy() / DAY)
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy())


# A fingerprint of a table's content, independent of the kind of dataframe or file it came from.


def compute_table_digest(table: pa.Table) -> str:
    """Hash names, types and cells of a canonical table (SHA-256); a coded column has the hash of its cells."""
    digest = hashlib.sha256()
    for name in table.column_names:
        column = table[name]
        encoded = dictionary_encode(column)
        if pa.types.is_dictionary(column.type) and len(column):
            encoded = reorder_dictionary(encoded)
        digest.update(f"{len(name)} {name} {encoded.type.value_type} {len(column)} {len(encoded.dictionary)} ".encode())
        shown = format_distinct_values(encoded.dictionary)
        digest.update(np.ascontiguousarray(pc.binary_length(shown).to_numpy(), dtype="<i4").tobytes())
        digest.update(_utf8_buffer(shown))
        indices = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
        digest.update(np.ascontiguousarray(indices, dtype="<i4").tobytes())
    return digest.hexdigest()


def fingerprint_of_rows(table: pa.Table) -> str:
    """Hash a table of texts whatever the order of its rows and columns, and whatever its numbers are written like.

    >>> shown, turned = pa.table({"a": ["x", "y"], "b": ["1", None]}), pa.table({"b": [None, "1"], "a": ["y", "x"]})
    >>> fingerprint_of_rows(shown) == fingerprint_of_rows(turned)
    True
    >>> fingerprint_of_rows(pa.table({"a": ["1.0", ""]})) == fingerprint_of_rows(pa.table({"a": ["1", None]}))
    True
    """
    names = sorted(table.column_names)
    alike = pa.table({name: _plain_numbers(table[name]) for name in names})
    return compute_table_digest(alike.sort_by([(name, "ascending") for name in names]))


def _plain_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Write numbers in one way, and cells of blanks alone as missing: a file has 1.0 where another has 1."""
    encoded = dictionary_encode(column)
    cells = pc.utf8_trim_whitespace(encoded.dictionary)
    number = pc.match_substring_regex(cells, rf"\A(?:{NUMBER})\z")
    plain = format_distinct_values(pc.if_else(number, cells, None).cast(pa.float64()))
    written = pc.if_else(pc.equal(cells, ""), None, pc.coalesce(plain, cells))
    return pa.chunked_array([written.take(encoded.indices)])


def _utf8_buffer(shown: pa.StringArray) -> memoryview:
    """Return all texts as one, in UTF-8, without copying them."""
    _, offsets, letters = shown.buffers()
    places = memoryview(offsets).cast("i")[shown.offset : shown.offset + len(shown) + 1] if offsets else [0, 0]
    return memoryview(letters or b"")[places[0] : places[-1]]
