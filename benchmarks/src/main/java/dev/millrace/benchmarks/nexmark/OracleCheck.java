package dev.millrace.benchmarks.nexmark;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.Schema;

/** Compares a query's answer over a small stream with DuckDB's over the same events. */
final class OracleCheck {
    /** Enough for several windows and sessions: half a minute of event time, and slow enough for sessions to end. */
    private static final long EVENTS = 300_000;

    private static final long RATE = 10_000;

    /** Adds up weighted rows. Written by one thread; read after the query ended. */
    private static final class Collector implements Sink {
        private final ZSet rows = new ZSet();

        @Override
        public void write(Batch batch) {
            rows.add(batch);
        }

        @Override
        public void commit(long epoch) {}

        @Override
        public void close() {}
    }

    private OracleCheck() {}

    /** How the answers differ; empty when they agree. */
    static String differences(NexmarkQuery query, int workers) {
        try (NexmarkRun run = new NexmarkRun(query, EVENTS, RATE, workers);
                Oracle oracle = Oracle.open()) {
            Generation generation = new Generation(
                    run.engine().allocator(), run.engine().options().batchRows(), EVENTS, RATE);
            for (String table : NexmarkQuery.TABLES) {
                if (query.oracleSql().contains(table)) {
                    oracle.create(table, generation.schema(table));
                    generation.each(table, batch -> oracle.insert(table, batch));
                }
            }
            Collector collector = new Collector();
            Schema schema = run.run(collector);
            oracle.create("answer", schema);
            oracle.insert("answer", collector.rows.rows());
            Schema compared = query.answerSql().contains("sum(") ? firstTwo(schema) : schema;
            ZSet answer = ZSet.of(oracle.query(query.answerSql(), compared));
            return oracle.differences(query.oracleSql(), compared, answer);
        }
    }

    /** A reduced answer has a key and a number. */
    private static Schema firstTwo(Schema schema) {
        return new Schema(schema.fields().subList(0, 2));
    }
}
