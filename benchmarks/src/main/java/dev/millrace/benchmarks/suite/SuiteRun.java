package dev.millrace.benchmarks.suite;

import dev.millrace.benchmarks.process.ProcessClock;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.session.DatabaseOptions;

/**
 * A database with a suite's streams, in which one query runs from the first row to the last. The plan is the one that
 * CREATE CONTINUOUS QUERY makes; it is started with the sink already in place, so that no row is missed.
 */
final class SuiteRun implements AutoCloseable {
    /** At 5, the thread that reads the clocks took 3 % of the CPU time and more. */
    private static final long SAMPLE_MILLIS = 20;

    private final SuiteDatabase database;
    private final String query;
    private final long events;
    private final PlanNode plan;

    SuiteRun(Suite suite, String query, Inputs inputs, int workers) {
        this.query = query;
        this.events = inputs.events();
        this.database = new SuiteDatabase(DatabaseOptions.defaults().withWorkers(workers), suite.setup(inputs));
        try {
            database.execute("CREATE CONTINUOUS QUERY planned AS " + suite.sql(query));
            this.plan = engine().query("planned").plan();
            database.execute("DROP CONTINUOUS QUERY planned");
        } catch (RuntimeException | Error e) {
            database.close();
            throw e;
        }
    }

    SuiteDatabase database() {
        return database;
    }

    PlanNode plan() {
        return plan;
    }

    Engine engine() {
        return database.engine();
    }

    /** Runs the query into a sink that only counts, and measures. */
    Measurement measure() throws InterruptedException {
        ChecksumSink sink = new ChecksumSink();
        ProgressLog progress = new ProgressLog();
        long gcMillis = ProcessClock.gcMillis();
        ProcessClock.Reading start = ProcessClock.now();
        StandingQuery running =
                engine().start(query, plan, QueryOptions.streaming().withSink(sink));
        // A query that reads a table never ends, so the end is when all of the bounded streams came out.
        Thread end = new Thread(database::flush, "end of the streams");
        end.start();
        while (end.isAlive()) {
            progress.sample(running.statistics().rowsIn(), ProcessClock.now());
            end.join(SAMPLE_MILLIS);
        }
        if (running.state() == QueryState.FAILED) {
            throw running.failure().orElseThrow();
        }
        ProcessClock.Reading stop = ProcessClock.now();
        long rows = running.statistics().rowsIn();
        progress.sample(rows, stop);
        ProgressLog.Steady steady = progress.steady();
        long counted = events > 0 ? events : rows;
        return new Measurement(
                query,
                counted,
                (stop.nanos() - start.nanos()) / 1e9,
                (stop.cpuNanos() - start.cpuNanos()) / 1e9,
                counted * steady.share(),
                steady.seconds(),
                steady.cpuSeconds(),
                (ProcessClock.gcMillis() - gcMillis) / 1e3,
                ProcessClock.peakRssMb(),
                sink.rows(),
                sink.checksum());
    }

    @Override
    public void close() {
        database.close();
    }
}
