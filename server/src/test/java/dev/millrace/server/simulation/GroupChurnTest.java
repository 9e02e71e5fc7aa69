package dev.millrace.server.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Thousands of members of query groups come and go in each simulated second, while rows come, some members are followed, and the machine ends: each that was answered for is
 * there, none that was dropped is, and who follows one is told its rows, all of them and once. {@code ./check --churn SECONDS} runs longer.
 */
@Tag("long")
class GroupChurnTest {
    private static final int SECONDS = Integer.getInteger("millrace.churn", 1);
    private static final long SEED = Long.getLong("millrace.churn.seed", 1);
    private static final int CHANGES = SECONDS > 1 ? 10_000 : 3_000; // in a second
    private static final int MEMBERS = 1_000; // about which there are
    private static final int KEYS = 50;
    private static final int MOST_FOLLOWED = 20;

    private final List<Logger> loggers =
            List.of(Logger.getLogger("dev.millrace"), Logger.getLogger("org.apache.arrow"));
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final SimulatedClock clock = new SimulatedClock(() -> {});
    private final Map<String, Question> questions = new LinkedHashMap<>(); // that are answered for
    private final List<String> names = new ArrayList<>(); // of those, in no order
    private final Map<String, Followed> followed = new TreeMap<>();
    private SimulatedDisk disk = new SimulatedDisk(SEED);
    private Database database;
    private Session session;
    private int made;
    private int openings;
    private int crashes;
    private long told; // rows

    /** What a query asks: rows of a key above a limit, or how many there are of a key and what they add up to. */
    private record Question(boolean counts, int key, int limit) {
        String sql(String name) {
            return "CREATE CONTINUOUS QUERY " + name + " AS SELECT "
                    + (counts
                            ? "k, count(*) AS n, sum(v) AS s FROM s WHERE k = " + key + " GROUP BY k"
                            : "k, v FROM s WHERE k = " + key + " AND v > " + limit);
        }
    }

    /** Who follows a query, what was heard and what is to be. Of one that counts what came before is known from the first change on; of one that is new, nothing did. */
    private record Followed(
            Question question,
            boolean isNew,
            Session session,
            StatementResult.Changes changes,
            Map<String, Integer> heard,
            List<int[]> rows) {
        void close() {
            changes.close();
            session.close();
        }
    }

    @BeforeEach
    void logNothing() {
        loggers.forEach(logger -> logger.setLevel(Level.OFF));
    }

    @AfterEach
    void log() {
        loggers.forEach(logger -> logger.setLevel(null));
    }

    @Test
    void whoComesAndGoesIsToldItsRowsAndNobodyElses() {
        open();
        execute("CREATE STREAM s (k BIGINT, v BIGINT)");
        try {
            for (int second = 0; second < SECONDS; second++) {
                int crashAt = random.nextInt(CHANGES);
                for (int change = 0; change < CHANGES; change++) {
                    if (change == crashAt) {
                        disk.killIn(random.nextInt(30));
                    }
                    step(change);
                }
                check();
                if (SECONDS > 1) {
                    System.out.println("churn: " + (second + 1) + " s of " + SECONDS + ", " + questions.size()
                            + " there, " + made + " made, " + crashes + " crashes, " + told + " rows told");
                }
            }
            assertTrue(crashes > 0 && told > 0, crashes + " crashes, " + told + " rows");
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("churn: seed " + SEED + ": " + e, e);
        } finally {
            disk.calm();
            followed.values().forEach(Followed::close);
            session.close();
            database.close();
        }
    }

    private void step(int number) {
        boolean isFew = questions.size() < MEMBERS / 2 + random.nextInt(MEMBERS);
        if (isFew) {
            create();
        } else {
            drop(names.get(random.nextInt(names.size())));
        }
        if (number % 50 == 0) {
            insert();
        }
        if (number % 100 == 0 && followed.size() < MOST_FOLLOWED && !names.isEmpty()) {
            follow(names.get(random.nextInt(names.size())));
        }
        if (number % 50 == 1 && !names.isEmpty()) {
            comeInPlaceOf(names.get(random.nextInt(names.size())));
        }
        if (number % 1_000 == 999) {
            check();
        }
    }

    private void create() {
        String name = "q" + made++;
        Question question = new Question(random.nextInt(3) == 0, random.nextInt(KEYS), random.nextInt(100));
        if (execute(question.sql(name))) {
            questions.put(name, question);
            names.add(name);
        } else {
            died(name, Optional.of(question));
        }
    }

    private void drop(String name) {
        Followed who = followed.remove(name);
        if (who != null) {
            who.close();
        }
        Question question = Objects.requireNonNull(questions.remove(name));
        names.remove(name);
        if (!execute("DROP CONTINUOUS QUERY " + name)) {
            died(name, Optional.of(question));
        }
    }

    /** While rows of one that goes are under way another comes, and is told none of them: its first rows come behind its beginning. */
    private void comeInPlaceOf(String name) {
        int before = crashes;
        insert();
        if (crashes == before) {
            drop(name);
        }
        if (crashes == before) {
            create();
        }
        if (crashes == before) {
            listen(names.get(names.size() - 1), true);
        }
    }

    private void insert() {
        List<int[]> rows = new ArrayList<>();
        StringBuilder values = new StringBuilder();
        for (int i = 0; i < 40; i++) {
            int[] row = {random.nextInt(KEYS), random.nextInt(100)};
            rows.add(row);
            values.append(i == 0 ? "" : ", ")
                    .append('(')
                    .append(row[0])
                    .append(", ")
                    .append(row[1])
                    .append(')');
        }
        if (execute("INSERT INTO s VALUES " + values)) {
            followed.values().forEach(who -> who.rows.addAll(rows));
        } else {
            died("", Optional.empty());
        }
    }

    private void follow(String name) {
        if (!followed.containsKey(name)) {
            if (!execute("FLUSH")) { // what came before is not told
                died("", Optional.empty());
                return;
            }
            listen(name, false);
        }
    }

    private void listen(String name, boolean isNew) {
        if (followed.size() >= MOST_FOLLOWED) {
            String other = followed.keySet().iterator().next();
            Objects.requireNonNull(followed.remove(other)).close();
        }
        Session own = database.session();
        followed.put(
                name,
                new Followed(
                        Objects.requireNonNull(questions.get(name)),
                        isNew,
                        own,
                        own.subscribe("SUBSCRIBE TO " + name, OptionalLong.empty()),
                        new HashMap<>(),
                        new ArrayList<>()));
    }

    /** Who follows has heard what there was to be told. */
    private void check() {
        if (!execute("FLUSH")) {
            died("", Optional.empty());
            return;
        }
        followed.forEach((name, who) -> {
            for (Optional<EpochChanges> next = who.changes.next(0); next.isPresent(); next = who.changes.next(0)) {
                try (EpochChanges epoch = next.get()) {
                    epoch.batches().forEach(batch -> {
                        told += batch.rowCount();
                        DurableClient.add(batch, who.heard);
                    });
                }
            }
            check(name, who);
        });
    }

    private static void check(String name, Followed who) {
        Question asked = who.question;
        List<int[]> ofKey = who.rows.stream().filter(row -> row[0] == asked.key).toList();
        if (!asked.counts) {
            Map<String, Integer> wanted = new TreeMap<>();
            ofKey.stream()
                    .filter(row -> row[1] > asked.limit)
                    .forEach(row -> wanted.merge(row[0] + "|" + row[1], 1, Integer::sum));
            assertEquals(wanted, new TreeMap<>(who.heard), name + " " + asked);
            return;
        }
        long[] more = new long[2]; // by which the answer grew
        who.heard.forEach((row, times) -> {
            String[] values = row.split("\\|");
            assertEquals(asked.key, Integer.parseInt(values[0]), name + " " + asked);
            assertTrue(times == 1 || times == -1 && !who.isNew, name + " " + asked + ": " + who.heard);
            more[0] += times * Long.parseLong(values[1]);
            more[1] += times * Long.parseLong(values[2]);
        });
        assertEquals(ofKey.size(), more[0], name + " " + asked + ": " + who.heard);
        assertEquals(ofKey.stream().mapToLong(row -> row[1]).sum(), more[1], name + " " + asked + ": " + who.heard);
    }

    // ---- the machine -----------------------------------------------------------------------------------------------

    /** @return false if the machine ended meanwhile */
    private boolean execute(String sql) {
        try {
            session.execute(sql).drain();
        } catch (SimulatedCrash | MillraceException e) {
            if (!disk.isDead()) {
                throw e;
            }
        }
        return !disk.isDead();
    }

    /** The machine ended in a statement: whether it is there, or is gone, is found when it is on again. @param question of the query that came or went, if one did */
    private void died(String name, Optional<Question> question) {
        crashes++;
        followed.clear();
        try {
            database.close();
        } catch (RuntimeException | Error e) {
            // it is dead
        }
        disk = disk.crash();
        open();
        TreeSet<String> there = new TreeSet<>(History.rows(session, "SELECT query FROM millrace.query_stats"));
        if (question.isPresent() && there.contains(name)) {
            questions.put(name, question.get());
            names.add(name);
        }
        assertEquals(new TreeSet<>(questions.keySet()), there);
    }

    private void open() {
        database = SimulatedHost.open(new SimulatedPlace(disk), clock, SEED * 31 + openings++);
        session = database.session();
    }
}
