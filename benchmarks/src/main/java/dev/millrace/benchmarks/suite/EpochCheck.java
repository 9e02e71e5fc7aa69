package dev.millrace.benchmarks.suite;

import dev.millrace.batch.Batch;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.QuerySnapshot;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/**
 * Compares a suite's queries with DuckDB at random epochs: the streams' rows are appended in chunks of random size, in random
 * order between the streams; now and then views continue from a snapshot of their state, here or in another database with
 * another number of workers, and others are dropped at work. What a window shows must be what is closed by the watermark, and no other. Used by one thread.
 */
final class EpochCheck implements AutoCloseable {
    private static final int[] CHUNKS = {1, 7, 60, 400};
    private static final int LEAST_CHUNKS = 30;
    private static final long WINDOW_SECONDS = 20; // more than processing-time windows are long

    private final Suite suite;
    private final List<String> queries;
    private final Inputs inputs;
    private final Feed feed;
    private final Random random;
    private final StandingClock clock = new StandingClock();
    private final Oracle oracle = Oracle.open();
    private final Questions questions;
    private final Map<Suite.Stream, Integer> fed = new LinkedHashMap<>();
    private final Map<Suite.Stream, Integer> fedWhenClockMoved = new LinkedHashMap<>();
    private final Map<Suite.Stream, Long> latestMicros = new LinkedHashMap<>();
    private final Map<String, List<Suite.Stream>> streamsOf = new HashMap<>();
    private SuiteDatabase database;
    private int workers;
    private int epochs;
    private int restarts;
    private int dropped;
    private long shown;

    EpochCheck(Suite suite, List<String> queries, Inputs inputs, Feed feed, int workers, long seed) {
        this.suite = suite;
        this.queries = queries;
        this.inputs = inputs;
        this.feed = feed;
        this.workers = workers;
        this.random = new Random(seed);
        for (Suite.Stream stream : suite.streams()) {
            oracle.create(stream.name(), feed.rows(stream).schema());
            if (queries.stream().anyMatch(query -> suite.streamsOf(query).contains(stream))) {
                fed.put(stream, 0);
                fedWhenClockMoved.put(stream, 0);
            }
        }
        this.questions = new Questions(suite, inputs, oracle);
        this.database = open();
        for (String query : queries) {
            database.execute("CREATE MATERIALIZED VIEW " + view(query) + " AS " + suite.sql(query));
            Set<String> scanned = new HashSet<>();
            collectScans(database.engine().query(view(query)).plan(), scanned);
            streamsOf.put(
                    query,
                    suite.streams().stream()
                            .filter(stream -> scanned.contains(stream.name()))
                            .toList());
        }
    }

    private SuiteDatabase open() {
        EngineOptions engine = EngineOptions.defaults()
                .withWorkers(workers)
                .withBatchRows(random.nextBoolean() ? 4096 : 1 + random.nextInt(100));
        return new SuiteDatabase(
                DatabaseOptions.defaults().withEngine(engine).withClock(clock), suite.setupWithoutSources(inputs));
    }

    private static void collectScans(PlanNode node, Set<String> scanned) {
        if (node instanceof PlanNode.Scan scan) {
            scanned.add(scan.relation());
        }
        node.inputs().forEach(input -> collectScans(input, scanned));
    }

    private static String view(String query) {
        return "view_" + query.replace('-', '_');
    }

    /** What is wrong, by query, at the first epoch where something is; empty if all agree to the last row. */
    Map<String, String> differences() {
        Map<String, String> wrong = new LinkedHashMap<>();
        long chunks = fed.keySet().stream().mapToLong(this::toCome).sum() / meanChunk();
        while (wrong.isEmpty() && isMore()) {
            append(randomStream());
            double event = random.nextDouble() * chunks; // how many there will be of each is what the numbers say
            if (event < 5) {
                wrong = compare();
            } else if (event < 9) {
                restartSome();
            } else if (event < 11) {
                move();
            } else if (event < 15) {
                dropAtWork();
            }
        }
        return wrong.isEmpty() ? compare() : wrong;
    }

    /** What was done, for people. */
    String summary() {
        return epochs + " epochs with " + shown + " rows, " + restarts + " restarts from snapshots, " + dropped
                + " dropped at work";
    }

    private int chunk(int size) {
        long rows = fed.keySet().stream()
                .mapToLong(stream -> feed.rows(stream).rows().size())
                .sum();
        return (int) Math.min(size, Math.max(1, rows / LEAST_CHUNKS));
    }

    private int meanChunk() {
        return Math.max(
                1, (int) Arrays.stream(CHUNKS).map(this::chunk).average().orElseThrow());
    }

    private boolean isMore() {
        return fed.keySet().stream().anyMatch(this::isMore);
    }

    private boolean isMore(Suite.Stream stream) {
        return Objects.requireNonNull(fed.get(stream))
                < feed.rows(stream).rows().size();
    }

    /** Half of the time any stream, else one with many rows to come. */
    private Suite.Stream randomStream() {
        List<Suite.Stream> open = fed.keySet().stream().filter(this::isMore).toList();
        if (random.nextBoolean()) {
            return open.get(random.nextInt(open.size()));
        }
        long row = (long)
                (random.nextDouble() * open.stream().mapToLong(this::toCome).sum());
        for (Suite.Stream stream : open) {
            row -= toCome(stream);
            if (row < 0) {
                return stream;
            }
        }
        return open.get(0);
    }

    private long toCome(Suite.Stream stream) {
        return feed.rows(stream).rows().size() - Objects.requireNonNull(fed.get(stream));
    }

    private void append(Suite.Stream stream) {
        Feed.StreamRows rows = feed.rows(stream);
        int from = Objects.requireNonNull(fed.get(stream));
        int to = Math.min(
                from + chunk(CHUNKS[random.nextInt(CHUNKS.length)]), rows.rows().size());
        List<Row> chunk = rows.rows().subList(from, to);
        Batch batch = TestBatches.of(rows.schema(), database.engine().allocator(), chunk);
        database.engine().relations().writable(stream.name()).append(batch);
        oracle.insert(stream.name(), chunk);
        fed.put(stream, to);
        if (rows.timeColumn() >= 0) {
            for (Row row : chunk) {
                latestMicros.merge(stream, (Long) row.get(rows.timeColumn()), Math::max);
            }
        }
    }

    private Map<String, String> compare() {
        moveClock();
        database.flush();
        Map<String, String> wrong = new LinkedHashMap<>();
        for (String query : queries) {
            String differences = Differences.orFailure(() -> differences(query));
            if (!differences.isEmpty()) {
                wrong.put(
                        query,
                        differences + "(epoch " + epochs + ", " + workers + " workers, watermark " + watermark(query)
                                + ")\n");
            }
        }
        epochs++;
        return wrong;
    }

    private String differences(String query) {
        List<Row> rows = new ArrayList<>();
        Schema schema = database.select("SELECT * FROM " + view(query), batch -> rows.addAll(TestBatches.rows(batch)));
        shown += rows.size();
        List<Suite.Stream> streams = streamsOf.getOrDefault(query, List.of());
        long clockRows = streams.isEmpty() ? 0 : Objects.requireNonNull(fedWhenClockMoved.get(streams.get(0)));
        String differences = questions.differences(query, watermark(query), clockRows, schema, rows);
        long late = database.engine().query(view(query)).statistics().lateRows();
        return differences.isEmpty() && late > 0 ? late + " rows came late\n" : differences;
    }

    /** Windows of processing time close with the first rows behind their end, if such come. */
    private void moveClock() {
        List<Suite.Stream> open = fed.keySet().stream().filter(this::isMore).toList();
        if (open.size() == fed.size()) {
            database.flush();
            clock.advanceSeconds(WINDOW_SECONDS);
            fedWhenClockMoved.putAll(fed);
            open.forEach(this::append);
        }
    }

    private String watermark(String query) {
        long least = Long.MAX_VALUE;
        for (Suite.Stream stream : streamsOf.getOrDefault(query, List.of())) {
            if (stream.timeColumn().isPresent()) {
                if (!latestMicros.containsKey(stream)) {
                    return "-infinity";
                }
                least = Math.min(least, latestMicros.get(stream) - stream.delayMicros());
            }
        }
        return least == Long.MAX_VALUE
                ? "infinity"
                : Instant.EPOCH
                        .plusNanos(least * 1_000)
                        .toString()
                        .replace('T', ' ')
                        .replace("Z", "");
    }

    private void restartSome() {
        database.flush();
        for (String query : queries) {
            if (random.nextInt(3) == 0) {
                StandingQuery running = database.engine().query(view(query));
                QuerySnapshot snapshot = running.snapshot();
                PlanNode plan = running.plan();
                running.drop();
                database.engine().start(view(query), plan, QueryOptions.view().withRestore(snapshot));
                restarts++;
            }
        }
    }

    /** Other queries of the same begin, and are dropped while they work: nothing of them may stay. */
    private void dropAtWork() {
        List<StandingQuery> others = new ArrayList<>();
        for (String query : queries) {
            if (random.nextInt(3) == 0) {
                StandingQuery running = database.engine().query(view(query));
                QueryOptions options = random.nextBoolean()
                        ? QueryOptions.view()
                        : QueryOptions.view().withRestore(running.snapshot());
                others.add(database.engine().start("other_" + view(query), running.plan(), options));
            }
        }
        for (StandingQuery other : others) {
            if (isMore() && random.nextInt(3) == 0) {
                append(randomStream());
            }
            if (random.nextInt(4) == 0) {
                database.flush();
            }
            other.drop();
            dropped++;
        }
    }

    /** All goes on in another database, with another number of workers. */
    private void move() {
        database.flush();
        Map<String, QuerySnapshot> snapshots = new LinkedHashMap<>();
        queries.forEach(query ->
                snapshots.put(query, database.engine().query(view(query)).snapshot()));
        Map<String, PlanNode> plans = new LinkedHashMap<>();
        queries.forEach(
                query -> plans.put(query, database.engine().query(view(query)).plan()));
        database.close();
        workers = workers % 3 + 1;
        database = open();
        for (String query : queries) {
            database.execute("CREATE MATERIALIZED VIEW " + view(query) + " AS " + suite.sql(query));
            database.engine().query(view(query)).drop();
            database.engine()
                    .start(
                            view(query),
                            Objects.requireNonNull(plans.get(query)),
                            QueryOptions.view().withRestore(Objects.requireNonNull(snapshots.get(query))));
            restarts++;
        }
    }

    @Override
    public void close() {
        oracle.close();
        database.close();
    }
}
