"""asyncpg: prepares with Flush, so that errors must come before any Sync; statements of the protocol seen by SQL."""
import asyncio
import sys

import asyncpg

dsn = sys.argv[1]


async def fails(connection, state, statement, *values):
    try:
        await asyncio.wait_for(connection.fetch(statement, *values), 30)
    except asyncpg.PostgresError as error:
        assert error.sqlstate == state, error.sqlstate
    else:
        raise AssertionError("no error: " + statement)


async def main():
    connection = await asyncpg.connect(dsn)
    for _ in range(3):
        await fails(connection, "42P01", "SELECT * FROM nowhere")
        await fails(connection, "42601", "SELEC 1")
        await fails(connection, "42883", "SELECT no_such_function($1::int)", 1)
        await fails(connection, "22012", "SELECT 1 / $1::int", 0)
        assert await connection.fetchval("SELECT $1::int + 1", 1) == 2
    await connection.execute("CREATE TABLE asyncpg_t (id BIGINT PRIMARY KEY, v TEXT)")
    await connection.executemany("INSERT INTO asyncpg_t VALUES ($1, $2)", [(i, str(i)) for i in range(100)])
    await fails(connection, "23505", "INSERT INTO asyncpg_t VALUES ($1, $2)", 1, "again")
    async with connection.transaction():
        seen = 0
        async for row in connection.cursor("SELECT id, v FROM asyncpg_t ORDER BY id", prefetch=7):
            assert row["v"] == str(row["id"])
            seen += 1
        assert seen == 100, seen
        cursor = await connection.cursor("SELECT id FROM asyncpg_t ORDER BY id")
        assert [r["id"] for r in await cursor.fetch(3)] == [0, 1, 2]
        await cursor.forward(10)
        assert (await cursor.fetchrow())["id"] == 13
    prepared = await connection.prepare("SELECT v FROM asyncpg_t WHERE id = $1")
    assert await prepared.fetchval(42) == "42"
    names = [r["name"] for r in await connection.fetch(
        "SELECT name FROM pg_prepared_statements WHERE statement LIKE 'SELECT v FROM asyncpg_t%'")]
    assert len(names) == 1, names
    await connection.execute("DROP TABLE asyncpg_t")
    await connection.close()


asyncio.run(main())
print("done")
