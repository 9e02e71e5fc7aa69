package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Closing;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.group.QueryGroups;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Subscriptions to queries that differ in literals alone share what runs them, and nothing of them stays, however they end. */
@Timeout(300)
class GroupedSubscriptionsTest {
    private static final long WAIT_MICROS = 60_000_000;
    private static final String CUT_OFF = " WITH (on_slow = 'disconnect')";

    private TestDatabase db;

    @BeforeEach
    void open() {
        db = new TestDatabase(2);
        db.run("CREATE STREAM readings (device TEXT, n INT, temp DOUBLE PRECISION)");
    }

    @AfterEach
    void close() {
        assertEquals(List.of(), db.database().engine().queries(), "something stayed");
        db.run("DROP STREAM readings");
        db.close();
    }

    private static String query(String device) {
        return "(SELECT n, temp FROM readings WHERE device = '" + device + "')";
    }

    private Heard hear(String device) {
        return new Heard(db, query(device) + CUT_OFF);
    }

    private void insert(String... rows) {
        db.run("INSERT INTO readings VALUES " + String.join(", ", rows) + "; FLUSH");
    }

    private long members() {
        return db.database().engine().queries().stream()
                .map(StandingQuery::group)
                .filter(Optional::isPresent)
                .count();
    }

    /** So many subscriptions of the form that the next is a member. */
    private List<Heard> apart() {
        List<Heard> apart = new ArrayList<>();
        for (int i = 0; i < QueryGroups.APART; i++) {
            apart.add(hear("none"));
        }
        return apart;
    }

    private StatementResult.Changes changes(StatementResults results) {
        return (StatementResult.Changes) results.next();
    }

    @Test
    void aThousandOfOneFormAreOneTask() {
        List<Heard> heard = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            heard.add(hear("d" + i));
        }
        List<StandingQuery> queries = db.database().engine().queries();
        assertEquals(1000, queries.size());
        assertEquals(1000 - QueryGroups.APART, members());
        assertEquals(
                1,
                queries.stream()
                        .flatMap(query -> query.group().stream())
                        .distinct()
                        .count());
        for (int round = 1; round <= 2; round++) {
            insert("('d0', " + round + ", 1)", "('d500', " + round + ", 2)", "('d999', " + round + ", NULL)");
        }
        for (int i = 0; i < 1000; i++) {
            Map<String, Long> expected = switch (i) {
                case 0 -> Map.of("1|1", 1L, "2|1", 1L);
                case 500 -> Map.of("1|2", 1L, "2|2", 1L);
                case 999 -> Map.of("1|", 1L, "2|", 1L);
                default -> Map.of();
            };
            assertEquals(expected, heard.get(i).all(), "d" + i);
        }
        Closing.all(heard);
        Closing.all(heard); // of no effect
    }

    @Test
    void queriesAndSubscriptionsAreOfOneGroupAndEachSeesWhatComesFromItsBeginningOn() {
        for (int i = 0; i <= QueryGroups.APART; i++) {
            db.run("CREATE CONTINUOUS QUERY q" + i + " AS SELECT n, temp FROM readings WHERE device = 'x'");
        }
        db.run("INSERT INTO readings VALUES ('x', 1, 1)"); // the epoch may be open still
        try (Heard x = hear("x");
                Heard query = new Heard(db, "q7")) {
            assertEquals(2, members());
            insert("('x', 2, 2)", "('y', 3, 3)");
            assertEquals(Map.of("2|2", 1L), x.all());
            assertEquals(Map.of("2|2", 1L), query.all());
            db.run("DROP CONTINUOUS QUERY q7"); // the group goes on for the subscription
            insert("('x', 4, 4)");
            assertEquals(Map.of("2|2", 1L, "4|4", 1L), x.all());
            for (int i = 0; i < QueryGroups.APART; i++) {
                db.run("DROP CONTINUOUS QUERY q" + i);
            }
            assertEquals(1, members());
            assertEquals(List.of(), db.rows("SELECT query FROM millrace.query_stats"));
            String why = db.error("DROP STREAM readings");
            assertTrue(why.contains("because subscription "), why);
            db.run("CREATE CONTINUOUS QUERY other AS SELECT n FROM readings");
            why = db.error("DROP STREAM readings CASCADE");
            assertTrue(why.contains("because subscription "), why);
            assertEquals(List.of("other"), db.rows("SELECT query FROM millrace.query_stats"), "nothing is half done");
            db.run("DROP CONTINUOUS QUERY other");
        }
    }

    @Test
    void nothingStaysOfThoseThatCameAndWentSoOften() {
        for (int i = 0; i < 3 * QueryGroups.APART; i++) { // one at a time: each is the first
            try (Heard one = hear("d" + i)) {
                assertEquals(0, members());
            }
        }
        for (int round = 0; round < 3; round++) {
            List<Heard> apart = apart();
            for (int i = 0; i < 400; i++) { // a group each: its last member goes
                try (Heard one = hear("d" + i)) {
                    assertEquals(1, members());
                }
            }
            try (Heard stays = hear("stays")) {
                for (int i = 0; i < 400; i++) {
                    try (Heard one = hear("d" + i)) {
                        assertEquals(2, members());
                    }
                }
                insert("('stays', 1, 1)", "('d399', 2, 2)");
                assertEquals(Map.of("1|1", 1L), stays.all());
            }
            Closing.all(apart);
        }
    }

    @Test
    void whoIsCancelledIsGoneWhenItsStatementIsClosed() {
        List<Heard> apart = apart();
        try (Session other = db.database().session();
                StatementResults results = other.execute("SUBSCRIBE TO " + query("x") + CUT_OFF)) {
            StatementResult.Changes changes = changes(results);
            assertEquals(1, members());
            assertEquals(Optional.empty(), changes.next(1));
            other.cancel();
            assertEquals(
                    SqlState.QUERY_CANCELED,
                    assertThrows(MillraceException.class, () -> changes.next(WAIT_MICROS))
                            .sqlState());
            other.cancel(); // while it is closed
        }
        assertEquals(0, members());
        Session leaves = db.database().session();
        StatementResults open = leaves.execute("SUBSCRIBE TO " + query("x") + CUT_OFF);
        assertFalse(changes(open).isFinished());
        assertEquals(1, members());
        insert("('x', 1, 1)"); // nobody takes it
        open.close();
        leaves.close();
        Closing.all(apart);
    }

    @Test
    void whoseRowFailsFailsAlone() {
        String divided = "(SELECT n, 10 / (n - %d) AS d FROM readings WHERE device = 'x')" + CUT_OFF;
        List<Heard> apart = new ArrayList<>();
        for (int i = 0; i < QueryGroups.APART; i++) {
            apart.add(new Heard(db, String.format(divided, 3)));
        }
        try (Heard fails = new Heard(db, String.format(divided, 3));
                Heard goesOn = new Heard(db, String.format(divided, 5))) {
            assertEquals(2, members());
            insert("('y', 3, 0)", "('x', 4, 0)");
            insert("('x', 3, 0)");
            insert("('x', 6, 0)");
            assertEquals(Map.of("4|-10", 1L, "3|-5", 1L, "6|10", 1L), goesOn.all());
            String alone =
                    assertThrows(MillraceException.class, apart.get(0)::all).getMessage();
            for (int i = 0; i < 2; i++) {
                MillraceException why = assertThrows(MillraceException.class, fails::all);
                assertEquals(SqlState.DIVISION_BY_ZERO, why.sqlState());
                assertEquals(alone, why.getMessage());
            }
            assertEquals(Map.of("4|10", 1L), fails.rows);
            assertEquals(apart.get(0).rows, fails.rows);
        }
        Closing.all(apart);
    }

    @Test
    void whoHasItsQueryWaitOrSaysSoRunsByItself() {
        List<Heard> apart = apart();
        try (Heard waits = new Heard(db, query("x"));
                Heard member = hear("x")) {
            assertEquals(1, members());
            db.run("SET query_groups = off");
            try (Heard off = hear("x")) {
                assertEquals(1, members());
                insert("('x', 1, 1)");
                assertEquals(Map.of("1|1", 1L), waits.all());
                assertEquals(waits.all(), off.all());
                assertEquals(waits.all(), member.all());
            }
        }
        Closing.all(apart);
    }

    @Test
    void whoIsTooSlowIsCutOffOrLosesWhatIsOldestAndNobodyElse() {
        List<Heard> apart = apart();
        try (Heard quick = hear("x");
                Session other = db.database().session();
                StatementResults cut =
                        other.execute("SUBSCRIBE TO " + query("x") + " WITH (on_slow = 'disconnect', buffer = '1kB')");
                Session another = db.database().session();
                StatementResults losing = another.execute(
                        "SUBSCRIBE TO " + query("x") + " WITH (on_slow = 'drop_oldest', buffer = '1kB')")) {
            StatementResult.Changes slow = changes(cut);
            StatementResult.Changes loses = changes(losing);
            assertEquals(3, members());
            for (int i = 0; i < 200; i++) {
                insert("('x', " + i + ", 1)");
            }
            assertEquals(200, quick.all().size());
            assertTrue(slow.isOverrun());
            MillraceException why = assertThrows(MillraceException.class, () -> {
                for (Optional<EpochChanges> next = slow.next(WAIT_MICROS);
                        next.isPresent();
                        next = slow.next(WAIT_MICROS)) {
                    next.get().close();
                }
            });
            assertEquals(SqlState.CONFIGURATION_LIMIT_EXCEEDED, why.sqlState());
            try (EpochChanges first = loses.next(WAIT_MICROS).orElseThrow()) {
                assertTrue(first.droppedRows() > 0);
            }
        }
        Closing.all(apart);
    }

    @Test
    void progressIsToldOfEpochsWithoutRowsToo() {
        List<Heard> apart = apart();
        try (Session other = db.database().session();
                StatementResults results =
                        other.execute("SUBSCRIBE TO " + query("x") + " WITH (progress, on_slow = 'disconnect')")) {
            StatementResult.Changes changes = changes(results);
            assertEquals(1, members());
            insert("('y', 1, 1)");
            try (EpochChanges epoch = changes.next(WAIT_MICROS).orElseThrow()) {
                assertTrue(epoch.batches().isEmpty());
            }
            insert("('x', 1, 1)");
            long rows = 0;
            while (rows == 0) {
                try (EpochChanges epoch = changes.next(WAIT_MICROS).orElseThrow()) {
                    rows = epoch.batches().size();
                }
            }
        }
        Closing.all(apart);
    }
}
