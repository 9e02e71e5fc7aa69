package dev.millrace.server.suite;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.number.Bignum;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Transfers between the accounts of branches, each within one: what leaves one account comes to another, so that the sum of
 * a branch is zero. Views add it up by ways of different length (credits and debits joined; both in a union; the difference
 * of these; over transfers of a stream and of a table whose rows are taken back), and every row that any of them shows, to a
 * SELECT, a subscriber or a sink, is checked. Tasks run in random order with tiny channels.
 *
 * <p>The feeding thread calls {@link #run}; one thread of its own reads, and the engine's call the sinks.
 */
final class Bank implements AutoCloseable {
    private static final int BRANCHES = 500;
    private static final int ACCOUNTS = 5; // of a branch
    private static final Schema TRANSFERS = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("branch", DataType.BIGINT, false),
            new Field("src", DataType.BIGINT, false),
            new Field("dst", DataType.BIGINT, false),
            new Field("amount", DataType.BIGINT, false));
    private static final String COLUMNS =
            "(id BIGINT, branch BIGINT NOT NULL, src BIGINT NOT NULL, dst BIGINT NOT NULL, amount BIGINT NOT NULL";
    private static final String ALL = "(SELECT * FROM transfers UNION ALL SELECT * FROM orders) AS moved";

    /** Each gives branches and totals. */
    private static final List<String> READ = List.of(
            "SELECT branch, total FROM totals",
            "SELECT branch, total FROM union_totals",
            "SELECT branch, total FROM differences",
            "SELECT branch, sum(balance) FROM balances GROUP BY branch",
            "SELECT c.branch, c.total - d.total FROM (SELECT branch, sum(total) AS total FROM credits GROUP BY branch) AS c"
                    + " FULL JOIN (SELECT branch, sum(total) AS total FROM debits GROUP BY branch) AS d ON c.branch = d.branch",
            "SELECT b.branch, b.balance - u.balance FROM balances AS b FULL JOIN union_balances AS u"
                    + " ON b.branch = u.branch AND b.account = u.account");

    /** Whose changes are followed: the last column by the first adds up to zero. */
    private static final List<String> FOLLOWED =
            List.of("balances", "union_balances", "totals", "union_totals", "differences");

    private final SplittableRandom random;
    private final Database database;
    private final Session session;
    private final AtomicLong totals = new AtomicLong();
    private final AtomicReference<Optional<String>> wrong = new AtomicReference<>(Optional.empty());
    private final List<Row> ordered = new ArrayList<>();
    private final List<Followed> subscribed = new ArrayList<>();
    private volatile boolean done; // written by the feeding thread, read by the reading one
    private long nextId;

    Bank(long seed) {
        random = new SplittableRandom(seed);
        EngineOptions engine = EngineOptions.defaults()
                .withWorkers(1 + (int) Math.floorMod(seed, 4L))
                .withBatchRows(new int[] {2, 16, 1024}[random.nextInt(3)])
                .withEpochMillis(1 + random.nextInt(10))
                .withSchedulingPolicy("random")
                .withChannelBytes(4_096, 1_024)
                .withMemoryLimitBytes(512L << 20);
        database = Database.open(DatabaseOptions.defaults().withEngine(engine));
        session = database.session();
        execute("CREATE STREAM transfers " + COLUMNS + ")");
        execute("CREATE TABLE orders " + COLUMNS + ", PRIMARY KEY (id))");
        view("credits", "SELECT branch, dst AS account, sum(amount) AS total FROM " + ALL + " GROUP BY branch, dst");
        view("debits", "SELECT branch, src AS account, sum(amount) AS total FROM " + ALL + " GROUP BY branch, src");
        view(
                "balances",
                "SELECT coalesce(c.branch, d.branch) AS branch, coalesce(c.account, d.account) AS account,"
                        + " coalesce(c.total, 0) - coalesce(d.total, 0) AS balance"
                        + " FROM credits AS c FULL JOIN debits AS d ON c.branch = d.branch AND c.account = d.account");
        view("totals", "SELECT branch, sum(balance) AS total FROM balances GROUP BY branch");
        String both = "(SELECT branch, dst AS account, amount FROM " + ALL
                + " UNION ALL SELECT branch, src AS account, -amount AS amount FROM " + ALL + ") AS both_ways";
        view(
                "union_balances",
                "SELECT branch, account, sum(amount) AS balance FROM " + both + " GROUP BY branch, account");
        view("union_totals", "SELECT branch, sum(amount) AS total FROM " + both + " GROUP BY branch");
        view(
                "differences",
                "SELECT t.branch, b.total - t.total AS total FROM totals AS t"
                        + " JOIN (SELECT branch, sum(balance) AS total FROM union_balances GROUP BY branch) AS b"
                        + " ON t.branch = b.branch");
        for (String name : FOLLOWED) {
            var query = database.engine().query(name);
            subscribed.add(new Followed(name, query.subscribe(SubscriptionOptions.withSnapshot())));
            database.engine()
                    .start(
                            "sink_of_" + name,
                            query.plan(),
                            QueryOptions.streaming().withSink(new CheckedSink(name)));
        }
    }

    private void view(String name, String query) {
        execute("CREATE MATERIALIZED VIEW " + name + " AS " + query);
    }

    private void execute(String sql) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                results.next().close();
            }
        }
    }

    /** Transfers until so many totals were seen; returns how many. */
    long run(long enough) throws InterruptedException {
        Thread reader = new Thread(this::read, "bank-reader");
        reader.start();
        try {
            while (totals.get() < enough && wrong.get().isEmpty() && reader.isAlive()) {
                transfer();
            }
        } finally {
            done = true;
            reader.join();
        }
        wrong.get().ifPresent(message -> {
            throw new AssertionError(message);
        });
        return totals.get();
    }

    private void transfer() {
        List<Row> streamed = moves();
        database.engine()
                .relations()
                .writable("transfers")
                .append(TestBatches.of(TRANSFERS, database.engine().allocator(), streamed));
        if (random.nextInt(3) > 0) {
            return;
        }
        List<Row> changed = moves();
        int added = changed.size();
        ordered.addAll(changed);
        while (ordered.size() > 200 || !ordered.isEmpty() && random.nextInt(3) == 0) {
            changed.add(ordered.remove(random.nextInt(ordered.size())));
        }
        long[] weights = new long[changed.size()];
        for (int row = 0; row < weights.length; row++) {
            weights[row] = row < added ? 1 : -1;
        }
        database.engine()
                .relations()
                .writable("orders")
                .append(TestBatches.weighted(TRANSFERS, database.engine().allocator(), changed, weights));
    }

    private List<Row> moves() {
        List<Row> moves = new ArrayList<>();
        for (int count = 1 + random.nextInt(100); count > 0; count--) {
            long branch = random.nextInt(BRANCHES);
            long src = random.nextInt(ACCOUNTS);
            moves.add(Row.of(
                    nextId++,
                    branch,
                    src,
                    (src + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS,
                    random.nextLong(1, 100)));
        }
        return moves;
    }

    // ---- what is shown

    private void read() {
        try (Session reading = database.session()) {
            for (int turn = 0; !done && wrong.get().isEmpty(); turn++) {
                String sql = READ.get(turn % READ.size());
                try (StatementResults results = reading.execute(sql)) {
                    StatementResult.Rows rows = (StatementResult.Rows) results.next();
                    for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                        try (Batch batch = next.get()) {
                            TestBatches.rows(batch).forEach(row -> check(sql, row.get(0), decimal(row.get(1))));
                        }
                    }
                }
                subscribed.forEach(Followed::follow);
            }
        } catch (RuntimeException | AssertionError e) {
            report("reading failed: " + e);
        }
    }

    private static BigDecimal decimal(Object number) {
        return number instanceof Bignum ofAnySize ? ofAnySize.value() : (BigDecimal) number;
    }

    private void check(String where, Object branch, BigDecimal total) {
        totals.incrementAndGet();
        if (total.signum() != 0) {
            report("branch " + branch + " has a total of " + total + " in " + where);
        }
    }

    private void report(String message) {
        wrong.compareAndSet(Optional.empty(), Optional.of(message));
    }

    /** The sums by branch of an answer that is told by its changes; by one thread at a time. */
    private final class Sums {
        private final String where;
        private final Map<Object, BigDecimal> touched = new HashMap<>(); // all were zero before the epoch

        Sums(String where) {
            this.where = where;
        }

        void add(Batch batch) {
            for (int i = 0; i < batch.rowCount(); i++) {
                Row row = TestBatches.row(batch, i);
                BigDecimal value = decimal(row.get(row.values().size() - 1));
                touched.merge(
                        row.get(0), value.multiply(BigDecimal.valueOf(TestBatches.weight(batch, i))), BigDecimal::add);
            }
        }

        void endEpoch() {
            touched.forEach((branch, total) -> check(where, branch, total));
            touched.clear();
        }
    }

    private final class Followed {
        private final Subscription subscription;
        private final Sums sums;

        Followed(String name, Subscription subscription) {
            this.subscription = subscription;
            this.sums = new Sums("SUBSCRIBE TO " + name);
        }

        void follow() {
            for (Optional<EpochChanges> next = subscription.next(0); next.isPresent(); next = subscription.next(0)) {
                try (EpochChanges changes = next.get()) {
                    changes.batches().forEach(sums::add);
                    sums.endEpoch();
                }
            }
        }
    }

    private final class CheckedSink implements Sink {
        private final Sums sums;

        CheckedSink(String name) {
            this.sums = new Sums("the sink of " + name);
        }

        @Override
        public void write(Batch batch) {
            sums.add(batch);
        }

        @Override
        public void commit(long epoch) {
            sums.endEpoch();
        }

        @Override
        public void close() {}
    }

    @Override
    public void close() {
        subscribed.forEach(followed -> followed.subscription.close());
        session.close();
        database.close();
    }
}
