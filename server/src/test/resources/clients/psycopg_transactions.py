"""psycopg 3: server-side cursors and transactions."""
import sys

import psycopg

conninfo = sys.argv[1]


def check(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


with psycopg.connect(conninfo, autocommit=True) as connection:
    connection.execute("CREATE TABLE py_copied (id BIGINT PRIMARY KEY, name TEXT, at TIMESTAMP)")

# Server-side cursors, within a transaction.
with psycopg.connect(conninfo) as connection:
    with connection.cursor(name="numbers") as cursor:
        cursor.itersize = 7
        cursor.execute("SELECT n FROM generate_series(1, 100) AS g(n) ORDER BY n")
        check([row[0] for row in cursor], list(range(1, 101)))
    with connection.cursor(name="pieces") as cursor:
        cursor.execute("SELECT n FROM generate_series(1, 10) AS g(n) ORDER BY n")
        check(cursor.fetchmany(3), [(1,), (2,), (3,)])
        check(cursor.fetchone(), (4,))
        check(len(cursor.fetchall()), 6)
    with connection.cursor(name="in_binary", binary=True) as cursor:
        cursor.execute("SELECT n FROM generate_series(1, 3) AS g(n) ORDER BY n")
        check(cursor.fetchall(), [(1,), (2,), (3,)])

    # A transaction: all or nothing.
    with connection.transaction():
        connection.execute("INSERT INTO py_copied VALUES (9001, 'kept', NULL)")
    try:
        with connection.transaction():
            connection.execute("INSERT INTO py_copied VALUES (9002, 'dropped', NULL)")
            raise RuntimeError("roll back")
    except RuntimeError:
        pass
    check(connection.execute("SELECT id FROM py_copied WHERE id > 9000").fetchall(), [(9001,)])

print("done")
