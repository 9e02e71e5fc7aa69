package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tables that reference each other, and one itself, with actions and times of checks that are drawn, under statements that are drawn, in
 * transactions with savepoints and not, in a database that is opened anew now and then: rows and errors are those of a model that goes through
 * all rows each time.
 */
class RandomForeignKeysTest {
    private static final int STEPS = 250;
    private static final int KEYS = 6;
    private static final List<String> ACTIONS =
            List.of("NO ACTION", "RESTRICT", "CASCADE", "CASCADE", "SET NULL", "SET DEFAULT");
    private static final List<String> TIMES =
            List.of("", "", " DEFERRABLE", " DEFERRABLE INITIALLY DEFERRED", " DEFERRABLE INITIALLY DEFERRED");

    @TempDir
    Path folder;

    /** A foreign key of a column to a table's key. */
    private record Reference(
            String name, String table, int column, String referenced, String onDelete, String onUpdate, String time) {
        String text() {
            return "CONSTRAINT " + name + " FOREIGN KEY (" + "abc".charAt(column) + ") REFERENCES " + referenced
                    + " ON DELETE " + onDelete + " ON UPDATE " + onUpdate + time;
        }
    }

    private static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Refused() {
            super("", null, false, false);
        }
    }

    /** Rows of three columns, a is the key: by table, each with a number of its own by which it stays the same when its key changes. */
    private static final class Model {
        final Map<String, Map<Integer, Integer[]>> tables = new TreeMap<>();
        private int next;

        Model copy() {
            Model copy = new Model();
            copy.next = next;
            tables.forEach((name, rows) -> {
                Map<Integer, Integer[]> copied = new TreeMap<>();
                rows.forEach((number, row) -> copied.put(number, row.clone()));
                copy.tables.put(name, copied);
            });
            return copy;
        }

        Map<Integer, Integer[]> rows(String table) {
            return Objects.requireNonNull(tables.get(table));
        }

        void insert(String table, Integer... row) {
            rows(table).put(next++, row);
        }

        boolean has(String table, int key) {
            return rows(table).values().stream().anyMatch(row -> row[0] == key);
        }

        /** What foreign keys do with rows that reference what a change took away. @param before the rows of then */
        void act(List<Reference> references, Model before) {
            boolean acted = true;
            Model was = before;
            while (acted) {
                Model now = copy();
                acted = false;
                for (Reference reference : references) {
                    acted |= act(reference, was, now);
                }
                was = now;
            }
        }

        private boolean act(Reference reference, Model was, Model now) {
            boolean acted = false;
            Map<Integer, Integer[]> all = rows(reference.table());
            for (Map.Entry<Integer, Integer[]> gone :
                    was.rows(reference.referenced()).entrySet()) {
                Integer[] after = now.rows(reference.referenced()).get(gone.getKey());
                int key = gone.getValue()[0];
                if (after != null && after[0] == key) {
                    continue;
                }
                String action = after == null ? reference.onDelete() : reference.onUpdate();
                if (action.equals("NO ACTION") || after != null && now.has(reference.referenced(), key)) {
                    continue;
                }
                for (Map.Entry<Integer, Integer[]> row : List.copyOf(all.entrySet())) {
                    boolean isReferencing =
                            Objects.equals(row.getValue()[reference.column()], key) && isAsItWas(reference, row, now);
                    if (isReferencing && action.equals("RESTRICT")) {
                        throw new Refused();
                    } else if (isReferencing && action.equals("CASCADE") && after == null) {
                        all.remove(row.getKey());
                    } else if (isReferencing) {
                        row.getValue()[reference.column()] =
                                action.equals("CASCADE") ? after[0] : action.equals("SET NULL") ? null : (Integer) 0;
                    }
                    acted |= isReferencing;
                }
            }
            return acted;
        }

        /** A row that this very foreign key changed in this round stays so. */
        private static boolean isAsItWas(Reference reference, Map.Entry<Integer, Integer[]> row, Model now) {
            Integer[] then = now.rows(reference.table()).get(row.getKey());
            return then != null && Objects.equals(then[reference.column()], row.getValue()[reference.column()]);
        }

        void requireKeys() {
            tables.forEach((name, rows) -> {
                if (rows.values().stream().map(row -> row[0]).distinct().count() < rows.size()
                        || rows.values().stream().anyMatch(row -> row[0] == null)) {
                    throw new Refused();
                }
            });
        }

        void require(List<Reference> references, Predicate<Reference> counts) {
            for (Reference reference : references) {
                boolean dangles = counts.test(reference)
                        && rows(reference.table()).values().stream()
                                .map(row -> row[reference.column()])
                                .anyMatch(key -> key != null && !has(reference.referenced(), key));
                if (dangles) {
                    throw new Refused();
                }
            }
        }

        List<String> texts(String table) {
            return rows(table).values().stream()
                    .map(row -> row[0] + "|" + Objects.toString(row[1], "") + "|" + Objects.toString(row[2], ""))
                    .sorted()
                    .toList();
        }
    }

    private Random random;
    private TestDatabase database;
    private List<Reference> references;
    private Model model;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void rowsAreAsTheModelHasThem(long seed) {
        random = new Random(seed);
        model = new Model();
        database = new TestDatabase(folder);
        try {
            define();
            for (int step = 0; step < STEPS; step++) {
                String place = "seed " + seed + ", step " + step + ": ";
                int what = random.nextInt(20);
                if (what == 0) {
                    openAgain();
                } else if (what < 6) {
                    transaction(place);
                } else {
                    statement(place, List.of());
                }
                check(place);
            }
        } finally {
            database.close();
        }
    }

    private <T> T any(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private void define() {
        references = List.of(
                reference("b_to_p", "c", 1, "p"),
                reference("c_to_c", "c", 2, "c"),
                reference("b_to_c", "g", 1, "c"),
                reference("c_to_p", "g", 2, "p"));
        for (String table : List.of("p", "c", "g")) {
            String elements = references.stream()
                    .filter(each -> each.table().equals(table))
                    .map(each -> ", " + each.text())
                    .collect(Collectors.joining());
            database.run(
                    "CREATE TABLE " + table + " (a INT PRIMARY KEY, b INT DEFAULT 0, c INT DEFAULT 0" + elements + ")");
            model.tables.put(table, new TreeMap<>());
        }
        if (random.nextBoolean()) {
            database.run("CREATE INDEX ON g (b)");
        }
    }

    private Reference reference(String name, String table, int column, String referenced) {
        return new Reference(name, table, column, referenced, any(ACTIONS), any(ACTIONS), any(TIMES));
    }

    private void openAgain() {
        if (random.nextBoolean()) {
            database.run("CHECKPOINT");
        }
        database.close();
        database = new TestDatabase(folder);
    }

    private void check(String place) {
        for (String table : model.tables.keySet()) {
            assertEquals(model.texts(table), database.rows("SELECT * FROM " + table), place + table + " " + references);
        }
    }

    private boolean isDeferred(Reference reference, Optional<Boolean> said) {
        boolean may = reference.time().contains("DEFERRABLE");
        return may && said.orElse(reference.time().contains("INITIALLY DEFERRED"));
    }

    private void transaction(String place) {
        Model before = model.copy();
        Optional<Boolean> said = Optional.empty();
        database.run("BEGIN");
        if (random.nextInt(3) == 0) {
            boolean deferred = random.nextBoolean();
            database.run("SET CONSTRAINTS ALL " + (deferred ? "DEFERRED" : "IMMEDIATE"));
            said = Optional.of(deferred);
        }
        for (int i = random.nextInt(6); i >= 0; i--) {
            Model saved = model.copy();
            database.run("SAVEPOINT s");
            boolean done = statement(place, List.of(said));
            if (!done || random.nextInt(4) == 0) {
                database.run("ROLLBACK TO s");
                model = saved;
            }
            check(place);
        }
        if (random.nextInt(5) == 0) {
            database.run("ROLLBACK");
            model = before;
            return;
        }
        boolean holds = holds(() -> model.require(references, reference -> true));
        assertEquals(holds, succeeds("COMMIT", place), place + "COMMIT " + references);
        if (!holds) {
            model = before;
        }
    }

    private static boolean holds(Runnable check) {
        try {
            check.run();
            return true;
        } catch (Refused e) {
            return false;
        }
    }

    private boolean succeeds(String sql, String place) {
        try {
            database.run(sql);
            return true;
        } catch (MillraceException e) {
            String code = e.sqlState().code();
            assertEquals("23", code.substring(0, 2), () -> place + sql + ": " + e.getMessage());
            return false;
        }
    }

    /** @param within what SET CONSTRAINTS said in the transaction, if there is one */
    private boolean statement(String place, List<Optional<Boolean>> within) {
        Model before = model.copy();
        String sql = draw();
        boolean holds = holds(() -> {
            model.requireKeys();
            model.act(references, before);
            model.requireKeys();
            model.require(references, reference -> within.isEmpty() || !isDeferred(reference, within.get(0)));
        });
        assertEquals(
                holds,
                succeeds(sql, place),
                place + sql + " " + references
                        + before.tables.keySet().stream()
                                .map(table -> table + before.texts(table))
                                .toList());
        if (!holds) {
            model = before;
        }
        return holds;
    }

    private Integer value() {
        int drawn = random.nextInt(KEYS + 2);
        return drawn > KEYS ? null : (Integer) drawn;
    }

    /** A statement, done with the model's rows as if there were no foreign keys. */
    private String draw() {
        String table = any(List.of("p", "c", "c", "g"));
        Map<Integer, Integer[]> rows = model.rows(table);
        int from = random.nextInt(KEYS + 1);
        int to = from + random.nextInt(3);
        switch (random.nextInt(6)) {
            case 0, 1, 2 -> {
                List<String> texts = new ArrayList<>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    Integer[] row = {random.nextInt(KEYS + 1), value(), value()};
                    model.insert(table, row);
                    texts.add("(" + row[0] + ", " + row[1] + ", " + row[2] + ")");
                }
                return "INSERT INTO " + table + " VALUES " + String.join(", ", texts);
            }
            case 3 -> {
                rows.values().removeIf(row -> row[0] >= from && row[0] <= to);
                return "DELETE FROM " + table + " WHERE a BETWEEN " + from + " AND " + to;
            }
            case 4 -> {
                int by = random.nextInt(3) - 1;
                rows.values().stream()
                        .filter(row -> row[0] >= from && row[0] <= to)
                        .forEach(row -> row[0] += by);
                return "UPDATE " + table + " SET a = a + " + by + " WHERE a BETWEEN " + from + " AND " + to;
            }
            default -> {
                int column = 1 + random.nextInt(2);
                Integer value = value();
                rows.values().stream()
                        .filter(row -> row[0] >= from && row[0] <= to)
                        .forEach(row -> row[column] = value);
                return "UPDATE " + table + " SET " + "abc".charAt(column) + " = " + value + " WHERE a BETWEEN " + from
                        + " AND " + to;
            }
        }
    }
}
