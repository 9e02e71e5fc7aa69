package dev.millrace.server.differential;

import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.differential.RandomQueries.Generated;
import dev.millrace.server.differential.RandomQueries.Kept;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.testing.oracle.Oracle;
import dev.millrace.testing.oracle.Oracle.OracleException;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.ZSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random queries over streams of files ({@link RandomFiles}), with one to four workers: a view shows in the end what the oracle
 * answers over the rows that were not late in their files, a SELECT what it answers over all.
 * {@code -Dmillrace.random.files=N} sets how many queries (30), {@code -Dmillrace.random.seed=S} the first seed, {@code
 * -Dmillrace.random.threads=T} how many rounds run at a time.
 */
@Tag("long")
class RandomFilesTest {
    private static final int QUERIES = Integer.getInteger("millrace.random.files", 30);
    private static final long SEED = Long.getLong("millrace.random.seed", 1);
    private static final int THREADS = Integer.getInteger("millrace.random.threads", 1);
    private static final int QUERIES_PER_ROUND = 6;
    private static final int QUERIES_PER_LINE = 1200;

    /** All rows, none of which was late. */
    private static final String ALL = "all_events";

    @TempDir
    private Path directory;

    @Test
    void viewsOverFilesEqualTheBatchAnswerHoweverTheyAreSplitAndShared() throws InterruptedException {
        List<Future<?>> rounds = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        AssertionError disagreements = new AssertionError("random queries over files disagree with the oracle");
        try {
            for (long round = 0; round * QUERIES_PER_ROUND < QUERIES; round++) {
                long seed = SEED + round;
                rounds.add(threads.submit(() -> round(seed)));
            }
            for (int round = 0; round < rounds.size(); round++) {
                try {
                    rounds.get(round).get();
                } catch (ExecutionException e) {
                    disagreements.addSuppressed(e.getCause());
                    System.out.println("ERROR in random queries over files: " + e.getCause());
                }
                int done = (round + 1) * QUERIES_PER_ROUND;
                if (done % QUERIES_PER_LINE == 0) {
                    System.out.printf(
                            "%,d of %,d random queries over files ran, %d rounds disagreed, seeds %d to %d%n",
                            done, QUERIES, disagreements.getSuppressed().length, SEED, SEED + round);
                }
            }
        } finally {
            threads.shutdownNow();
        }
        if (disagreements.getSuppressed().length > 0) {
            throw disagreements;
        }
    }

    private void round(long seed) {
        Chance chance = new Chance(seed);
        int workers = chance.of(1, 2, 3, 4);
        DatabaseOptions options = DatabaseOptions.defaults()
                .withEngine(EngineOptions.defaults()
                        .withWorkers(workers)
                        .withBatchRows(chance.of(2, 16, 4096))
                        .withMemoryLimitBytes(256L << 20));
        try (Oracle oracle = Oracle.open();
                Database database = Database.open(options);
                Session session = database.session()) {
            create(seed, chance, oracle, session);
            for (int number = 0; number < QUERIES_PER_ROUND; number++) {
                ask(new Chance(seed * QUERIES_PER_ROUND + number), oracle, session);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(e + "\n(seed " + seed + ", " + workers + " workers)", e);
        }
    }

    private void create(long seed, Chance chance, Oracle oracle, Session session) throws IOException {
        RandomFiles files = new RandomFiles(chance, Files.createDirectory(directory.resolve("seed" + seed)));
        RandomRows rows = new RandomRows(chance);
        List<Row> expected = files.write(rows.next(chance.of(20, 100, 400)));
        oracle.create(RandomRound.STREAM, RandomRows.ORACLE_SCHEMA);
        oracle.insert(RandomRound.STREAM, expected);
        oracle.execute("CREATE VIEW " + ALL + " AS SELECT * REPLACE (" + RandomRows.EARLIEST + " AS wm) FROM "
                + RandomRound.STREAM);
        oracle.execute("CREATE VIEW " + RandomRound.TABLE + " AS SELECT * FROM " + ALL);
        Answers.of(
                session,
                files.create(RandomRound.STREAM) + "; CREATE TABLE " + RandomRound.TABLE + " ("
                        + RandomRows.DECLARATIONS + ", PRIMARY KEY (id)); INSERT INTO " + RandomRound.TABLE
                        + " SELECT * FROM " + RandomRound.STREAM);
    }

    private static void ask(Chance chance, Oracle oracle, Session session) {
        Generated query =
                chance.percent(70) ? new RandomQueries(chance).next() : Generated.of(new RandomGrammar(chance).next());
        String ours = query.ours(RandomRound.STREAM);
        String late = query.kept() == Kept.LATE_INCLUDED ? " WITH (late = 'include')" : "";
        try {
            Answers.of(session, "CREATE MATERIALIZED VIEW v" + late + " AS " + ours);
            session.flush();
            compare(oracle, session, "SELECT * FROM v", query.duck(RandomRound.STREAM), ours);
            Answers.of(session, "DROP MATERIALIZED VIEW v");
            if (query.kept() != Kept.OVER_STREAM && !query.ordered()) {
                compare(oracle, session, ours, query.duck(RandomRound.STREAM).replaceAll("\\bevents\\b", ALL), ours);
            }
        } catch (OracleException e) {
            if (!e.getMessage().contains("INTERNAL Error")) {
                throw e;
            }
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.FEATURE_NOT_SUPPORTED) {
                throw new AssertionError(e.sqlState() + " " + e.getMessage() + "\n" + ours, e);
            }
        }
    }

    private static void compare(Oracle oracle, Session session, String select, String duck, String view) {
        Answers answers = Answers.of(session, select);
        String atEnd = duck.replace(RandomTimes.NOW, "TIMESTAMP '2200-01-01'");
        String differences = oracle.differences(atEnd, answers.schema(), ZSet.of(answers.rows()));
        if (!differences.isEmpty()) {
            throw new AssertionError(differences + "\n" + view + "\noracle: " + atEnd);
        }
    }
}
