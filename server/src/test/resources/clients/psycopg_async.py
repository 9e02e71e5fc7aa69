"""psycopg 3 with asyncio: queries side by side, COPY, a subscription that others feed."""
import asyncio
import sys

import psycopg

conninfo = sys.argv[1]


async def main():
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await connection.execute("CREATE STREAM async_s (k TEXT, v BIGINT)")
        await connection.execute(
            "CREATE MATERIALIZED VIEW async_totals AS SELECT k, sum(v) AS total FROM async_s GROUP BY k")
        async with connection.cursor() as cursor:
            async with cursor.copy("COPY async_s FROM STDIN") as copy:
                for i in range(5000):
                    await copy.write_row(("copied", i))
            await cursor.execute("SELECT total FROM async_totals")
            assert await cursor.fetchone() == (12497500,)
            rows = []
            async with cursor.copy("COPY (SELECT n FROM generate_series(1, 1000) AS g(n)) TO STDOUT") as copy:
                async for row in copy.rows():
                    rows.append(row)
            assert len(rows) == 1000, len(rows)

    async def ask(number):
        async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as connection:
            cursor = await connection.execute("SELECT %s::integer + 1", (number,))
            return (await cursor.fetchone())[0]

    answers = await asyncio.gather(*(ask(i) for i in range(20)))
    assert answers == list(range(1, 21)), answers

    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as subscriber, \
            await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as writer:
        async def follow():
            async for change in subscriber.cursor().stream("SUBSCRIBE TO async_totals"):
                if change[0] == "+" and change[2] == "live":
                    return change[3]

        following = asyncio.create_task(follow())
        await asyncio.sleep(.3)
        await writer.execute("INSERT INTO async_s VALUES ('live', 42)")
        assert await asyncio.wait_for(following, 10) == 42

    connection = await psycopg.AsyncConnection.connect(conninfo, autocommit=True)
    waiting = asyncio.create_task(connection.execute("SELECT count(*) FROM generate_series(1, 2000000000) AS g(n)"))
    await asyncio.sleep(.3)
    await connection.cancel_safe()
    try:
        await asyncio.wait_for(waiting, 10)
        raise AssertionError("not cancelled")
    except psycopg.errors.QueryCanceled:
        pass
    await connection.close()
    print("done")


asyncio.run(main())
