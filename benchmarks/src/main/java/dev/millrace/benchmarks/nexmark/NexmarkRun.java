package dev.millrace.benchmarks.nexmark;

import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.connector.Sink;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QueryState;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.server.session.StatementResults;
import dev.millrace.type.Schema;

/**
 * A database with the suite's streams, in which one query runs from the first event to the last. The plan is the one
 * that CREATE CONTINUOUS QUERY makes; it is started with the sink already in place, so that no row is missed.
 */
final class NexmarkRun implements AutoCloseable {
    private static final long SAMPLE_MILLIS = 5;

    private final Database database;
    private final Session session;
    private final NexmarkQuery query;
    private final long events;
    private final PlanNode plan;

    NexmarkRun(NexmarkQuery query, long events, long rate, int workers) {
        this.query = query;
        this.events = events;
        this.database = Database.open(DatabaseOptions.defaults().withWorkers(workers));
        this.session = database.session();
        execute(NexmarkQuery.tablesSql(events, rate));
        execute("CREATE CONTINUOUS QUERY planned AS " + query.sql());
        this.plan = engine().query("planned").plan();
        execute("DROP CONTINUOUS QUERY planned");
    }

    PlanNode plan() {
        return plan;
    }

    Engine engine() {
        return database.engine();
    }

    private void execute(String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                results.next().close();
            }
        }
    }

    /** Runs the query into a sink that only counts, and measures. */
    Measurement measure() throws InterruptedException {
        ChecksumSink sink = new ChecksumSink();
        Progress progress = new Progress();
        long gcMillis = ProcessClock.gcMillis();
        ProcessClock.Reading start = ProcessClock.now();
        StandingQuery running = start(sink);
        while (running.state() == QueryState.RUNNING) {
            progress.sample(running.statistics().rowsIn(), ProcessClock.now());
            Thread.sleep(SAMPLE_MILLIS);
        }
        finish(running);
        ProcessClock.Reading end = ProcessClock.now();
        progress.sample(running.statistics().rowsIn(), end);
        Progress.Steady steady = progress.steady();
        return new Measurement(
                query.title(),
                events,
                (end.nanos() - start.nanos()) / 1e9,
                (end.cpuNanos() - start.cpuNanos()) / 1e9,
                events * steady.share(),
                steady.seconds(),
                steady.cpuSeconds(),
                (ProcessClock.gcMillis() - gcMillis) / 1e3,
                ProcessClock.peakRssMb(),
                sink.rows(),
                sink.checksum());
    }

    /** Runs the query into a sink to its end; returns the columns of the answer. */
    Schema run(Sink sink) {
        StandingQuery running = start(sink);
        finish(running);
        return running.schema();
    }

    private StandingQuery start(Sink sink) {
        return engine().start(query.title(), plan, QueryOptions.streaming().withSink(sink));
    }

    private static void finish(StandingQuery running) {
        if (running.await() == QueryState.FAILED) {
            throw running.failure().orElseThrow();
        }
    }

    @Override
    public void close() {
        session.close();
        database.close();
    }
}
