// node-postgres: queries, prepared statements, types, errors, a pool, pg-cursor, pg-query-stream, cancelling a subscription.
const assert = require('node:assert');
const { Client, Pool } = require('pg');
const Cursor = require('pg-cursor');
const QueryStream = require('pg-query-stream');

const config = { host: 'localhost', port: Number(process.argv[2]), user: 'millrace', database: 'millrace' };

async function main() {
  const client = new Client(config);
  await client.connect();
  await client.query('CREATE STREAM js_s (k TEXT, v BIGINT)');
  await client.query('CREATE MATERIALIZED VIEW js_totals AS SELECT k, count(*) AS n, sum(v) AS total FROM js_s GROUP BY k');
  for (let i = 0; i < 20; i++) {
    await client.query({ name: 'insert', text: 'INSERT INTO js_s VALUES ($1, $2)', values: [i % 2 ? 'odd' : 'even', i] });
  }
  const totals = await client.query('SELECT k, n, total FROM js_totals ORDER BY k');
  assert.deepStrictEqual(totals.rows, [{ k: 'even', n: '10', total: '90' }, { k: 'odd', n: '10', total: '100' }]);
  assert.strictEqual(totals.command, 'SELECT');
  assert.strictEqual(totals.rowCount, 2);
  const many = await client.query('SELECT 1 AS a; SELECT 2 AS b');
  assert.deepStrictEqual(many.map((result) => result.rows[0]), [{ a: 1 }, { b: 2 }]);

  const types = await client.query(
    'SELECT $1::integer AS i, $2::text AS t, $3::boolean AS b, $4::double precision AS d, $5::timestamptz AS ts, $6::bytea AS x,'
      + ' $7::jsonb AS j, $8::integer[] AS a, NULL::text AS n',
    [7, "grün 'q'", true, 0.5, new Date('2024-02-29T12:00:00Z'), Buffer.from([0, 255]), { a: [1] }, [1, 2]]);
  const row = types.rows[0];
  assert.strictEqual(row.i, 7);
  assert.strictEqual(row.t, "grün 'q'");
  assert.strictEqual(row.b, true);
  assert.strictEqual(row.d, 0.5);
  assert.strictEqual(row.ts.toISOString(), '2024-02-29T12:00:00.000Z');
  assert.ok(row.x.equals(Buffer.from([0, 255])));
  assert.deepStrictEqual(row.j, { a: [1] });
  assert.deepStrictEqual(row.a, [1, 2]);
  assert.strictEqual(row.n, null);

  await assert.rejects(client.query('SELECT nope'), (error) => error.code === '42703' && error.position === '8');
  await assert.rejects(client.query('SELECT 1 / $1::integer', [0]), (error) => error.code === '22012');
  assert.strictEqual((await client.query('SELECT 1 AS one')).rows[0].one, 1);

  // A cursor reads as much as it is asked for.
  const cursor = client.query(new Cursor('SELECT n FROM generate_series(1, $1::integer) AS g(n) ORDER BY n', [100]));
  assert.deepStrictEqual((await cursor.read(3)).map((r) => r.n), [1, 2, 3]);
  assert.strictEqual((await cursor.read(50)).length, 50);
  await cursor.close();
  let sum = 0;
  for await (const r of client.query(new QueryStream('SELECT n FROM generate_series(1, 1000) AS g(n)', [], { batchSize: 10 }))) {
    sum += r.n;
  }
  assert.strictEqual(sum, 500500);

  // A subscription, read piece by piece while another client feeds it.
  const writer = new Client(config);
  await writer.connect();
  const changes = client.query(new Cursor('SUBSCRIBE TO js_totals'));
  let arrived = false;
  const waiting = changes.read(1).finally(() => { arrived = true; });
  while (!arrived) { // the first may come before the subscription does
    await writer.query("INSERT INTO js_s VALUES ('live', 5)");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const [change] = await waiting;
  assert.strictEqual(change.k, 'live');
  await changes.close();
  await client.end();
  await writer.end();

  const pool = new Pool({ ...config, max: 5 });
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => pool.query('SELECT $1::integer * 2 AS x', [i])));
  assert.deepStrictEqual(answers.map((answer) => answer.rows[0].x), Array.from({ length: 50 }, (_, i) => 2 * i));
  await pool.end();
  console.log('done');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
