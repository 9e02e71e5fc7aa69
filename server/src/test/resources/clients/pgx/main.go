// pgx v5: queries in its default mode (prepared, binary) and others, types, batches, CopyFrom, a pool, errors, cancelling by context.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(actual, expected any) {
	if fmt.Sprint(actual) != fmt.Sprint(expected) {
		panic(fmt.Sprintf("%v is not %v", actual, expected))
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, os.Args[1])
	must(err)
	_, err = conn.Exec(ctx, "CREATE STREAM go_s (k TEXT, v BIGINT)")
	must(err)
	_, err = conn.Exec(ctx, "CREATE MATERIALIZED VIEW go_totals AS SELECT k, count(*) AS n, sum(v) AS total FROM go_s GROUP BY k")
	must(err)
	for i := 0; i < 10; i++ {
		tag, err := conn.Exec(ctx, "INSERT INTO go_s VALUES ($1, $2)", "one", i)
		must(err)
		check(tag.RowsAffected(), 1)
	}

	rows := [][]any{}
	for i := 0; i < 10000; i++ {
		rows = append(rows, []any{"copied", int64(i)})
	}
	copied, err := conn.CopyFrom(ctx, pgx.Identifier{"go_s"}, []string{"k", "v"}, pgx.CopyFromRows(rows))
	must(err)
	check(copied, 10000)

	type total struct {
		K     string
		N     int64
		Total float64
	}
	found, err := conn.Query(ctx, "SELECT k, n, total::double precision AS total FROM go_totals ORDER BY k")
	must(err)
	totals, err := pgx.CollectRows(found, pgx.RowToStructByName[total])
	must(err)
	check(totals, "[{copied 10000 4.9995e+07} {one 10 45}]")

	// Every type, there and back, in every mode of pgx.
	at := time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		var i int32
		var l int64
		var f float64
		var s string
		var b bool
		var t time.Time
		var d time.Time
		var x []byte
		var n *string
		err = conn.QueryRow(ctx, "SELECT $1::integer, $2::bigint, $3::double precision, $4::text, $5::boolean, $6::timestamptz,"+
			" $7::date, $8::bytea, NULL::text", mode, int32(-7), int64(1)<<62, 0.25, "grün 'q' \\", true, at,
			at.Truncate(24*time.Hour), []byte{0, 255}).Scan(&i, &l, &f, &s, &b, &t, &d, &x, &n)
		must(err)
		check([]any{i, l, f, s, b, t.Equal(at), d.Format("2006-01-02"), x, n == nil},
			[]any{-7, int64(1) << 62, 0.25, "grün 'q' \\", true, true, "2024-02-29", []byte{0, 255}, true})
	}
	var names []string
	var numeric string
	must(conn.QueryRow(ctx, "SELECT ARRAY['a', 'b c'], 12.50::numeric(10,2)::text").Scan(&names, &numeric))
	check(names, "[a b c]")
	check(numeric, "12.50")
	var count int64
	must(conn.QueryRow(ctx, "SELECT sum(n)::bigint FROM go_totals WHERE k = ANY($1)", []string{"one", "none"}).Scan(&count))
	check(count, 10)

	// A batch is one round trip, many answers.
	batch := &pgx.Batch{}
	for i := 0; i < 100; i++ {
		batch.Queue("SELECT $1::integer + 1", i)
	}
	results := conn.SendBatch(ctx, batch)
	for i := 0; i < 100; i++ {
		var answer int
		must(results.QueryRow().Scan(&answer))
		check(answer, i+1)
	}
	must(results.Close())

	var failure *pgconn.PgError
	_, err = conn.Exec(ctx, "SELECT nope FROM go_totals")
	if !errors.As(err, &failure) || failure.Code != "42703" || failure.Position != 8 {
		panic(err)
	}

	// A transaction that is rolled back leaves nothing.
	_, err = conn.Exec(ctx, "CREATE TABLE go_t (id BIGINT PRIMARY KEY)")
	must(err)
	tx, err := conn.Begin(ctx)
	must(err)
	_, err = tx.Exec(ctx, "INSERT INTO go_t VALUES (1)")
	must(err)
	must(tx.Rollback(ctx))
	must(conn.QueryRow(ctx, "SELECT count(*) FROM go_t").Scan(&count))
	check(count, 0)

	// A subscription ends with its context.
	pool, err := pgxpool.New(ctx, os.Args[1])
	must(err)
	defer pool.Close()
	follow, stop := context.WithCancel(ctx)
	changes, err := conn.Query(follow, "SUBSCRIBE TO go_totals", pgx.QueryExecModeSimpleProtocol)
	must(err)
	go func() {
		time.Sleep(200 * time.Millisecond)
		_, err := pool.Exec(ctx, "INSERT INTO go_s VALUES ('live', 5)")
		must(err)
	}()
	if !changes.Next() {
		panic(changes.Err())
	}
	values, err := changes.Values()
	must(err)
	check(values[2], "live")
	stop()
	for changes.Next() {
	}
	if changes.Err() == nil {
		panic("the subscription went on")
	}
	must(pool.QueryRow(ctx, "SELECT 1").Scan(&count))
	fmt.Println("done")
}
