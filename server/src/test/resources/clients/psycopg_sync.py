"""psycopg 3: parameters, types in text and binary, COPY in all its forms, pipelines, errors, LISTENing for changes."""
import datetime
import decimal
import io
import sys
import threading
import uuid

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

conninfo = sys.argv[1]


def check(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


with psycopg.connect(conninfo, autocommit=True) as connection:
    check(connection.info.encoding, "utf-8")
    check(connection.info.parameter_status("standard_conforming_strings"), "on")
    connection.execute("CREATE STREAM py_clicks (k TEXT, v BIGINT)")
    connection.execute(
        "CREATE MATERIALIZED VIEW py_totals AS SELECT k, count(*) AS n, sum(v) AS total FROM py_clicks GROUP BY k")

    # Parameters, one by one and many; psycopg prepares after five executions and then sends them in binary.
    with connection.cursor() as cursor:
        for i in range(8):
            cursor.execute("INSERT INTO py_clicks VALUES (%s, %s)", ("one", i))
        cursor.executemany("INSERT INTO py_clicks VALUES (%s, %s)", [("many", i) for i in range(100)])
        check(cursor.rowcount, 100)
        cursor.execute("SELECT k, n, total FROM py_totals ORDER BY k")
        check(cursor.fetchall(), [("many", 100, decimal.Decimal(4950)), ("one", 8, decimal.Decimal(28))])
        check([column.name for column in cursor.description], ["k", "n", "total"])
        cursor.execute("SELECT n FROM py_totals WHERE k = ANY(%s) ORDER BY n", (["one", "none"],))
        check(cursor.fetchall(), [(8,)])

    # Every type, there and back, in both formats.
    values = {
        "smallint": 7, "integer": -(2**31), "bigint": 2**62, "double precision": 0.1, "text": "grün \\ 'q' \"d\"\n",
        "boolean": True, "numeric(20,5)": decimal.Decimal("-12345.67890"), "date": datetime.date(1969, 7, 20),
        "time": datetime.time(12, 34, 56, 789000), "timestamp": datetime.datetime(1999, 12, 31, 23, 59, 59, 5),
        "timestamptz": datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc),
        "uuid": uuid.UUID("6f2c1c1e-53a5-4f0b-93a5-0f5d3f6b7a01"), "bytea": b"\x00\xff\\",
        "interval": datetime.timedelta(days=2, seconds=3.5),
    }
    for binary in (False, True):
        with connection.cursor(binary=binary) as cursor:
            for name, value in values.items():
                for parameter in ("%s", "%b", "%t"):
                    if parameter == "%b" and name == "double precision" and not binary:
                        continue
                    cursor.execute(f"SELECT {parameter}::{name}, NULL::{name}", (value,))
                    check(cursor.fetchone(), (value, None))
            cursor.execute("SELECT ARRAY[1, 2, NULL]::integer[], ARRAY['a', 'b c']::text[]")
            check(cursor.fetchone(), ([1, 2, None], ["a", "b c"]))
            cursor.execute("SELECT '{\"a\": [1, true]}'::jsonb")
            check(cursor.fetchone(), ({"a": [1, True]},))

    with connection.cursor(row_factory=dict_row) as cursor:
        check(cursor.execute("SELECT 1 AS a, 'x' AS b").fetchone(), {"a": 1, "b": "x"})
    query = sql.SQL("SELECT {} FROM {} WHERE k = {}").format(
        sql.Identifier("n"), sql.Identifier("py_totals"), sql.Literal("one"))
    check(connection.execute(query).fetchone(), (8,))

    # COPY: lines, rows, binary rows, and out again.
    connection.execute("CREATE TABLE py_copied (id BIGINT PRIMARY KEY, name TEXT, at TIMESTAMP)")
    at = datetime.datetime(2024, 1, 1)
    with connection.cursor() as cursor:
        with cursor.copy("COPY py_copied FROM STDIN") as copy:
            for i in range(1000):
                copy.write_row((i, None if i % 7 == 0 else f"tab\tname {i}", at))
        with cursor.copy("COPY py_copied (id, name, at) FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int8", "text", "timestamp"])
            for i in range(1000, 2000):
                copy.write_row((i, f"binary {i}", None))
        with cursor.copy("COPY py_copied FROM STDIN (FORMAT csv)") as copy:
            copy.write("5000,\"a, b\",\n")
        cursor.execute("SELECT count(*), count(name), count(at), max(id) FROM py_copied")
        check(cursor.fetchone(), (2001, 1858, 1000, 5000))
        with cursor.copy("COPY (SELECT id, name, at FROM py_copied WHERE id < 3 ORDER BY id) TO STDOUT") as copy:
            copy.set_types(["int8", "text", "timestamp"])
            check(list(copy.rows()), [(0, None, at), (1, "tab\tname 1", at), (2, "tab\tname 2", at)])
        with cursor.copy("COPY (SELECT id, name FROM py_copied WHERE id > 1997 ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int8", "text"])
            check(list(copy.rows()), [(1998, "binary 1998"), (1999, "binary 1999"), (5000, "a, b")])
        with io.BytesIO() as out, cursor.copy("COPY py_copied TO STDOUT (FORMAT csv, HEADER)") as copy:
            for data in copy:
                out.write(data)
            check(out.getvalue().count(b"\n"), 2002)
        try:
            with cursor.copy("COPY py_copied FROM STDIN") as copy:
                copy.write("nonsense\n")
            raise AssertionError("accepted")
        except psycopg.errors.DataError as error:
            assert error.sqlstate.startswith("22"), error.sqlstate

    # Errors have their class and place, and the connection goes on.
    try:
        connection.execute("SELECT nope FROM py_totals")
        raise AssertionError("accepted")
    except psycopg.errors.UndefinedColumn as error:
        check(error.diag.statement_position, "8")
    try:
        connection.execute("SELECT 1 / %s", (0,))
        raise AssertionError("accepted")
    except psycopg.errors.DivisionByZero:
        pass

    # Pipeline mode: many statements, one answer each, errors only of their own group.
    with connection.pipeline() as pipeline:
        cursors = [connection.execute("SELECT %s::integer * 2", (i,)) for i in range(50)]
        pipeline.sync()
        check([cursor.fetchone()[0] for cursor in cursors], [2 * i for i in range(50)])
        broken = connection.cursor()
        try:
            broken.execute("SELECT 1 / 0")
            pipeline.sync()
            broken.fetchone()
            raise AssertionError("accepted")
        except psycopg.errors.DivisionByZero:
            pass
    check(connection.execute("SELECT 1").fetchone(), (1,))

    # Cancelling from another thread.
    timer = threading.Timer(.3, connection.cancel)
    timer.start()
    try:
        for change in connection.cursor().stream("SUBSCRIBE TO py_clicks"):
            pass
        raise AssertionError("not cancelled")
    except psycopg.errors.QueryCanceled:
        pass
    timer.join()

# Changes as they come.
with psycopg.connect(conninfo, autocommit=True) as subscriber, psycopg.connect(conninfo, autocommit=True) as writer:
    timer = threading.Timer(.3, lambda: writer.execute("INSERT INTO py_clicks VALUES ('live', 5)"))
    timer.start()
    for change in subscriber.cursor().stream("SUBSCRIBE TO py_totals"):
        check((change[0], change[2:]), ("+", ("live", 1, decimal.Decimal(5))))
        break
    timer.join()

print("done")
