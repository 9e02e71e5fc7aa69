"""Runs one user's function, batch after batch, for the server that started it; PythonWorker has the other end of the protocol.

Frames are a kind (one byte), a length (four) and content, all little endian. A batch is its number of rows and, per column, Arrow's
buffers: whether there is a validity bitmap, bytes of data, then bitmap, offsets (of text and bytea) and data. So is a result.
Standard library only, but for functions that are vectorized: those are given pyarrow's arrays.
"""
import array
import datetime
import decimal
import inspect
import io
import os
import signal
import struct
import sys
import textwrap
import threading
import time
import traceback
import types
import uuid

RESULT, FAILURE, PRINTED, READY = range(4)
MOST_PRINTED = 8000
MOST_MESSAGE = 2000
WIDTHS = {"smallint": 2, "integer": 4, "bigint": 8, "real": 4, "double": 8, "numeric": 16, "date": 4, "time": 8,
          "timestamp": 8, "timestamptz": 8, "uuid": 16}
CODES = {"smallint": "h", "integer": "i", "bigint": "q", "real": "f", "double": "d", "date": "i", "time": "q",
         "timestamp": "q", "timestamptz": "q"}
DIGITS = decimal.Context(prec=80)
FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
DAY = 86_400_000_000
MICROSECOND = datetime.timedelta(microseconds=1)
EPOCH = datetime.datetime(1970, 1, 1)
EPOCH_UTC = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class Printed(io.TextIOBase):
    """What a function prints, for the server's log; what is too much is left out."""

    def __init__(self):
        self.text = ""

    def writable(self):
        return True

    def write(self, text):
        if len(self.text) < MOST_PRINTED:
            self.text = (self.text + str(text))[:MOST_PRINTED]
        return len(text)


class Type:
    def __init__(self, text):
        self.kind, *parts = text.split(":")
        self.precision, self.scale = (int(part) for part in parts) if parts else (0, 0)
        self.is_bytes = self.kind in ("text", "bytea")

    # ---- from buffers

    def values(self, rows, validity, offsets, data):
        """A list, None for NULL."""
        found = self.present(rows, offsets, data)
        if validity is not None:
            for row in range(rows):
                if not validity[row >> 3] >> (row & 7) & 1:
                    found[row] = None
        return found

    def present(self, rows, offsets, data):
        kind = self.kind
        if kind == "boolean":
            return [bool(data[row >> 3] >> (row & 7) & 1) for row in range(rows)]
        if self.is_bytes:
            ends = memoryview(offsets).cast("i").tolist()
            first = ends[0]
            pieces = [bytes(data[ends[row] - first:ends[row + 1] - first]) for row in range(rows)]
            return pieces if kind == "bytea" else [piece.decode() for piece in pieces]
        if kind == "uuid":
            return [uuid.UUID(bytes=bytes(data[16 * row:16 * row + 16])) for row in range(rows)]
        if kind == "numeric":
            return [decimal.Decimal(int.from_bytes(data[16 * row:16 * row + 16], "little", signed=True))
                    .scaleb(-self.scale, DIGITS) for row in range(rows)]
        numbers = memoryview(data).cast(CODES[kind]).tolist()
        if kind in ("smallint", "integer", "bigint", "real", "double"):
            return numbers
        return Lazily(numbers, self.moment)

    def moment(self, number):
        try:
            if self.kind == "date":
                return datetime.date.fromordinal(FIRST_DAY + number)
            if self.kind == "time":
                if number == DAY:
                    return datetime.time.max  # Python has no 24:00
                return (EPOCH + number * MICROSECOND).time()
            return (EPOCH if self.kind == "timestamp" else EPOCH_UTC) + number * MICROSECOND
        except (OverflowError, ValueError):
            raise ValueError(f"a value of type {self.kind} is outside of Python's years 1 to 9999") from None

    # ---- to buffers

    def stored(self, value):
        """A value as it is put into an array."""
        kind = self.kind
        try:
            if kind == "boolean":
                if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
                    return bool(value)
            elif kind in ("smallint", "integer", "bigint"):
                if hasattr(value, "__index__"):
                    number = value.__index__()
                    if not -1 << 8 * WIDTHS[kind] - 1 <= number < 1 << 8 * WIDTHS[kind] - 1:
                        raise OverflowError
                    return number
            elif kind in ("real", "double"):
                if isinstance(value, (float, int, decimal.Decimal)) or hasattr(value, "__float__"):
                    number = float(value)
                    return array.array("f", (number,))[0] if kind == "real" else number
            elif kind == "numeric":
                if isinstance(value, (int, float, decimal.Decimal)) or hasattr(value, "__index__"):
                    exact = decimal.Decimal(repr(value) if isinstance(value, float) else value)
                    if not exact.is_finite() or exact.adjusted() > 40:
                        raise OverflowError
                    number = int(exact.scaleb(self.scale, DIGITS).to_integral_value(decimal.ROUND_HALF_UP, DIGITS))
                    if abs(number) >= 10 ** self.precision:
                        raise OverflowError
                    return number
            elif kind == "text":
                if isinstance(value, str):
                    return value.encode()
            elif kind == "bytea":
                if isinstance(value, (bytes, bytearray, memoryview)):
                    return bytes(value)
            elif kind == "uuid":
                if isinstance(value, uuid.UUID):
                    return value.bytes
            elif kind == "date":
                if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
                    return value.toordinal() - FIRST_DAY
            elif kind == "time":
                if isinstance(value, datetime.time):
                    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
            elif isinstance(value, datetime.datetime):
                if (value.tzinfo is None) == (kind == "timestamp"):
                    return (value - (EPOCH if kind == "timestamp" else EPOCH_UTC)) // MICROSECOND
                raise TypeError(f"a datetime {'without' if value.tzinfo is None else 'with'} a time zone is no value of type {kind}")
        except (OverflowError, decimal.InvalidOperation):
            raise ValueError(f"a value is out of range for type {kind}") from None
        raise TypeError(f"a {type(value).__name__} is no value of type {kind}")

    def buffers(self, stored):
        """Validity, offsets and data of a list of what stored() gave, None for NULL."""
        rows = len(stored)
        validity = bitmap([each is not None for each in stored])
        if self.kind == "boolean":
            return validity, b"", bitmap([bool(each) for each in stored])
        if self.is_bytes:
            ends = array.array("i", bytes(4 * (rows + 1)))
            end = 0
            for row, each in enumerate(stored):
                end += len(each) if each is not None else 0
                ends[row + 1] = end
            return validity, ends.tobytes(), b"".join(each for each in stored if each is not None)
        if self.kind == "uuid":
            return validity, b"", b"".join(each or bytes(16) for each in stored)
        if self.kind == "numeric":
            return validity, b"", b"".join((each or 0).to_bytes(16, "little", signed=True) for each in stored)
        return validity, b"", array.array(CODES[self.kind], [each or 0 for each in stored]).tobytes()

    # ---- pyarrow's

    def arrow(self, arrow):
        return {"boolean": arrow.bool_(), "smallint": arrow.int16(), "integer": arrow.int32(), "bigint": arrow.int64(),
                "real": arrow.float32(), "double": arrow.float64(), "text": arrow.utf8(), "bytea": arrow.binary(),
                "date": arrow.date32(), "time": arrow.time64("us"), "timestamp": arrow.timestamp("us"),
                "timestamptz": arrow.timestamp("us", "UTC"), "uuid": arrow.binary(16)}.get(self.kind) \
            or arrow.decimal128(self.precision, self.scale)


class Lazily(list):
    """Numbers that become values where a row is asked for: one that cannot fails that row."""

    def __init__(self, numbers, make):
        super().__init__(numbers)
        self.make = make

    def at(self, row):
        number = self[row]
        return None if number is None else self.make(number)


def bitmap(bits):
    out = bytearray((len(bits) + 7) // 8)
    for place, bit in enumerate(bits):
        if bit:
            out[place >> 3] |= 1 << (place & 7)
    return bytes(out)


class Failed(Exception):
    def __init__(self, row, message):
        super().__init__(message)
        self.row = row


def explained(error, file):
    """What an exception says and, where it passed through the function, the line there."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == file:
            line = frame.lineno
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    name = type(error).__name__
    return (f"{name}: {said}" if said else name)[:MOST_MESSAGE] + (f" (line {line})" if line else "")


class Function:
    def __init__(self, entry, source, strict, vectorized, returns, parameters):
        self.file = f"<function {entry}>"
        self.strict = strict == "1"
        self.vectorized = vectorized == "1"
        self.returns = Type(returns)
        self.parameters = [Type(each) for each in parameters]
        names = {"__name__": "millrace_function"}
        try:
            if self.vectorized:
                import pyarrow
                import pyarrow.compute
                self.arrow, self.compute = pyarrow, pyarrow.compute
            exec(compile(textwrap.dedent(source), self.file, "exec"), names)
        except ImportError as error:
            if self.vectorized and error.name == "pyarrow":
                raise Failed(-1, "a vectorized function needs pyarrow: pip install pyarrow for the interpreter"
                                 f" {sys.executable}") from None
            raise Failed(-1, explained(error, self.file)) from None
        except BaseException as error:
            raise Failed(-1, explained(error, self.file)) from None
        made = [each for each in names.values() if isinstance(each, types.FunctionType)]
        self.call = names.get(entry) or (made[0] if len(made) == 1 else None)
        if not callable(self.call):
            raise Failed(-1, f"the source defines no function {entry}")
        try:
            inspect.signature(self.call).bind(*self.parameters)
        except TypeError as error:
            raise Failed(-1, f"{entry}() cannot be called with {len(self.parameters)} arguments: {error}") from None
        except ValueError:
            pass  # a builtin that does not say

    def run(self, rows, columns):
        if self.vectorized:
            return self.run_vectors(rows, columns)
        values = [each.values(rows, *buffers) for each, buffers in zip(self.parameters, columns)]
        stored = []
        call, store, strict = self.call, self.returns.stored, self.strict
        for row in range(rows):
            try:
                given = [each.at(row) if isinstance(each, Lazily) else each[row] for each in values]
                value = None if strict and any(each is None for each in given) else call(*given)
                stored.append(None if value is None else store(value))
            except BaseException as error:
                raise Failed(row, explained(error, self.file)) from None
        return self.returns.buffers(stored)

    def run_vectors(self, rows, columns):
        arrow = self.arrow
        try:
            given = []
            for each, (validity, offsets, data) in zip(self.parameters, columns):
                buffers = [None if validity is None else arrow.py_buffer(bytes(validity))]
                if each.is_bytes:
                    ends = memoryview(offsets).cast("i")
                    buffers.append(arrow.py_buffer(array.array("i", [end - ends[0] for end in ends]).tobytes()))
                buffers.append(arrow.py_buffer(bytes(data)))
                given.append(arrow.Array.from_buffers(each.arrow(arrow), rows, buffers))
            answer = self.call(*given) if given else self.call()
            wanted = self.returns.arrow(arrow)
            if isinstance(answer, arrow.ChunkedArray):
                answer = answer.combine_chunks()
            if not isinstance(answer, arrow.Array):
                answer = arrow.array(answer, wanted)
            if len(answer) != rows:
                raise ValueError(f"a vectorized function was given {rows} rows and gave {len(answer)}")
            if answer.type != wanted:
                answer = answer.cast(wanted)
            if self.strict and given:
                for each in given:
                    answer = self.compute.if_else(each.is_valid(), answer, arrow.scalar(None, wanted))
            return self.plain(answer, rows)
        except BaseException as error:
            raise Failed(-1, explained(error, self.file)) from None

    def plain(self, answer, rows):
        """The buffers of an array that may be a part of another."""
        if answer.offset:
            answer = self.arrow.array(answer.to_pylist(), answer.type)
        validity, *rest = answer.buffers()
        bits = (rows + 7) // 8
        valid = bytes(validity)[:bits] if validity is not None else b"\xff" * bits
        data = bytes(rest[-1]) if rest[-1] is not None else b""
        if self.returns.is_bytes:
            offsets = bytes(rest[0])[:4 * (rows + 1)]
            end = memoryview(offsets).cast("i")[rows]
            return valid, offsets, data[:end]
        return valid, b"", data[:bits if self.returns.kind == "boolean" else rows * WIDTHS[self.returns.kind]]


def exactly(file, count):
    content = file.read(count)
    if len(content) < count:
        os._exit(0)  # the server is gone, or does not need this process any more
    return content


def send(file, kind, *parts):
    file.write(struct.pack("<bi", kind, sum(len(part) for part in parts)))
    for part in parts:
        file.write(part)
    file.flush()


def columns_of(content, parameters):
    rows, = struct.unpack_from("<i", content, 0)
    place = 4
    columns = []
    view = memoryview(content)
    for each in parameters:
        has_validity, length = struct.unpack_from("<bi", content, place)
        place += 5
        sizes = ((rows + 7) // 8 if has_validity else 0, 4 * (rows + 1) if each.is_bytes else 0, length)
        buffers = []
        for size in sizes:
            buffers.append(view[place:place + size])
            place += size
        columns.append((buffers[0] if has_validity else None, buffers[1], buffers[2]))
    return rows, columns


def watch(parent):
    """Ends with the server, also while a function runs: that one may have been killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def main():
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    sys.stdout = sys.stderr = printed = Printed()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # which a terminal sends to the server's whole group
    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
    texts = []
    for _ in range(struct.unpack("<i", exactly(requests, 4))[0]):
        texts.append(exactly(requests, struct.unpack("<i", exactly(requests, 4))[0]).decode())
    try:
        import resource
        resource.setrlimit(resource.RLIMIT_DATA, (int(texts[0]), int(texts[0])))
    except (ImportError, OSError, ValueError):
        pass  # a system without
    function = None

    def print_out():
        if printed.text:
            send(answers, PRINTED, printed.text.encode(errors="replace"))
            printed.text = ""

    try:
        function = Function(texts[1], texts[2], texts[3], texts[4], texts[5], texts[6:])
        print_out()
        send(answers, READY)
    except Failed as failure:
        send(answers, FAILURE, struct.pack("<i", -1), str(failure).encode(errors="replace"))
        return
    while True:
        content = exactly(requests, struct.unpack("<i", exactly(requests, 4))[0])
        try:
            validity, offsets, data = function.run(*columns_of(content, function.parameters))
            print_out()
            send(answers, RESULT, validity, offsets, data)
        except Failed as failure:
            print_out()
            send(answers, FAILURE, struct.pack("<i", failure.row), str(failure).encode(errors="replace"))


main()
