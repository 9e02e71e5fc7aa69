package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The same names in three schemas, made, dropped, renamed and moved at random, by whatever search path and in transactions, in a database
 * that is opened anew now and then, are what a model says that they are.
 */
class RandomSchemasTest {
    private static final List<String> SCHEMAS = List.of("public", "one", "two");
    private static final List<String> NAMES =
            List.of("t", "u", "v", "m"); // of two tables, a view and a materialized one
    private static final int STEPS = 200;

    @TempDir
    Path folder;

    /**
     * What there is: tables with their rows, views and materialized views with the tables that they read, all by full names, and comments, also on
     * schemas.
     */
    private record Model(
            Set<String> schemas,
            Map<String, List<Integer>> tables,
            Map<String, String> views,
            Map<String, String> comments) {
        Model copy() {
            Map<String, List<Integer>> rows = new TreeMap<>();
            tables.forEach((name, values) -> rows.put(name, new ArrayList<>(values)));
            return new Model(new TreeSet<>(schemas), rows, new TreeMap<>(views), new TreeMap<>(comments));
        }

        boolean has(String name) {
            return tables.containsKey(name) || views.containsKey(name);
        }

        void rename(Map<String, String> names) {
            Map<String, List<Integer>> rows = new TreeMap<>();
            tables.forEach((name, values) -> rows.put(names.getOrDefault(name, name), values));
            tables.clear();
            tables.putAll(rows);
            Map<String, String> readers = new TreeMap<>();
            views.forEach((name, read) -> readers.put(names.getOrDefault(name, name), names.getOrDefault(read, read)));
            views.clear();
            views.putAll(readers);
            Map<String, String> said = new TreeMap<>();
            comments.forEach((name, text) -> said.put(names.getOrDefault(name, name), text));
            comments.clear();
            comments.putAll(said);
        }

        void drop(String name) {
            tables.remove(name);
            views.remove(name);
            comments.remove(name);
            List.copyOf(views.entrySet()).forEach(view -> {
                if (view.getValue().equals(name)) {
                    drop(view.getKey());
                }
            });
        }
    }

    private Random random;
    private TestDatabase database;
    private Model model;
    private List<String> path = List.of("public");

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void namesMeanWhatTheModelSays(long seed) {
        random = new Random(seed);
        model = new Model(new TreeSet<>(Set.of("public")), new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
        database = new TestDatabase(folder);
        try {
            for (int step = 0; step < STEPS; step++) {
                String place = "seed " + seed + ", step " + step + ": ";
                int what = random.nextInt(12);
                if (what == 0) {
                    openAgain();
                } else if (what == 1) {
                    transaction(place);
                } else {
                    Optional<SqlState> failure = act(place);
                    assertEquals(Optional.empty(), failure.filter(state -> state == SqlState.FEATURE_NOT_SUPPORTED));
                }
                check(place);
            }
        } finally {
            database.close();
        }
    }

    private void openAgain() {
        if (random.nextBoolean()) {
            database.run("CHECKPOINT");
        }
        database.close();
        database = new TestDatabase(folder);
        path = List.of("public");
    }

    private void transaction(String place) {
        Model before = model.copy();
        List<String> pathBefore = path;
        database.run("BEGIN");
        boolean failed = false;
        for (int i = random.nextInt(4); i >= 0 && !failed; i--) {
            failed = act(place + "in a transaction, ").isPresent();
        }
        boolean commits = !failed && random.nextBoolean();
        database.run(commits ? "COMMIT" : "ROLLBACK");
        if (!commits) {
            model = before;
            path = pathBefore;
        }
    }

    /** Does one thing that the model does, too, or that both refuse; gives why it was refused. */
    private Optional<SqlState> act(String place) {
        String schema = SCHEMAS.get(random.nextInt(SCHEMAS.size()));
        boolean isQualified = random.nextBoolean();
        String kind = NAMES.get(random.nextInt(NAMES.size()));
        String written = isQualified ? schema + "." + kind : kind;
        switch (random.nextInt(14)) {
            case 0 -> {
                boolean fits = !model.schemas.contains(schema);
                return run(place, "CREATE SCHEMA " + schema, fits, () -> model.schemas.add(schema));
            }
            case 1 -> {
                boolean fits = model.schemas.contains(schema) && !schema.equals("public");
                return run(place, "DROP SCHEMA " + schema + " CASCADE", fits, () -> {
                    Set<String> all = new TreeSet<>(model.tables.keySet());
                    all.addAll(model.views.keySet());
                    all.stream().filter(name -> name.startsWith(schema + ".")).forEach(model::drop);
                    model.schemas.remove(schema);
                    model.comments.remove(schema);
                });
            }
            case 2 -> {
                Set<String> newPath = new LinkedHashSet<>();
                for (int i = random.nextInt(3); i >= 0; i--) {
                    newPath.add(SCHEMAS.get(random.nextInt(SCHEMAS.size())));
                }
                return run(
                        place,
                        "SET search_path TO " + String.join(", ", newPath),
                        true,
                        () -> path = List.copyOf(newPath));
            }
            case 3 -> {
                return create(place, isQualified ? Optional.of(schema) : first(), written, kind);
            }
            case 4 -> {
                Optional<String> name = meant(isQualified, schema, kind);
                return run(
                        place,
                        "DROP " + sqlName(kind) + " " + written + " CASCADE",
                        name.isPresent(),
                        () -> model.drop(name.orElseThrow()));
            }
            case 5 -> {
                return setSchema(place, meant(isQualified, schema, kind), written, kind);
            }
            case 6 -> {
                String other = kind.equals("t") ? "u" : "t";
                Optional<String> table = meant(isQualified, schema, kind);
                Optional<String> renamed = table.map(name -> name.substring(0, name.indexOf('.') + 1) + other);
                boolean fits = table.isPresent() && isTable(kind) && !model.has(renamed.get());
                if (!isTable(kind)) {
                    return Optional.empty(); // names say here what things are
                }
                return run(
                        place,
                        "ALTER TABLE " + written + " RENAME TO " + other,
                        fits,
                        () -> model.rename(Map.of(table.orElseThrow(), renamed.orElseThrow())));
            }
            case 7 -> {
                String one = schema + ".t";
                String other = schema + ".u";
                return run(
                        place,
                        "ALTER TABLE " + one + " SWAP WITH " + other,
                        model.has(one) && model.has(other),
                        () -> model.rename(Map.of(one, other, other, one)));
            }
            case 8 -> {
                String other = SCHEMAS.get(random.nextInt(SCHEMAS.size()));
                boolean fits = model.schemas.contains(schema) && !model.schemas.contains(other);
                return schema.equals("public")
                        ? Optional.empty()
                        : run(place, "ALTER SCHEMA " + schema + " RENAME TO " + other, fits, () -> {
                            model.schemas.remove(schema);
                            model.schemas.add(other);
                            Map<String, String> names = new TreeMap<>();
                            NAMES.forEach(name -> names.put(schema + "." + name, other + "." + name));
                            names.put(schema, other);
                            model.rename(names);
                        });
            }
            case 9, 10 -> {
                return comment(place, sqlName(kind) + " " + written, meant(isQualified, schema, kind));
            }
            case 11 -> {
                return comment(place, "SCHEMA " + schema, Optional.of(schema).filter(model.schemas::contains));
            }
            default -> {
                String name = random.nextBoolean() ? "t" : "u";
                Optional<String> table = meant(isQualified, schema, name);
                int value = random.nextInt(100);
                return run(
                        place,
                        "INSERT INTO " + (isQualified ? schema + "." : "") + name + " VALUES (" + value + ")",
                        table.isPresent(),
                        () -> model.tables.get(table.orElseThrow()).add(value));
            }
        }
    }

    private Optional<SqlState> comment(String place, String target, Optional<String> name) {
        String text = random.nextInt(4) == 0 ? "" : "said " + random.nextInt(1000);
        return run(place, "COMMENT ON " + target + " IS '" + text + "'", name.isPresent(), () -> {
            model.comments.remove(name.orElseThrow());
            if (!text.isEmpty()) {
                model.comments.put(name.orElseThrow(), text);
            }
        });
    }

    private static boolean isTable(String kind) {
        return kind.equals("t") || kind.equals("u");
    }

    private static String sqlName(String kind) {
        return isTable(kind) ? "TABLE" : kind.equals("v") ? "VIEW" : "MATERIALIZED VIEW";
    }

    private Optional<SqlState> setSchema(String place, Optional<String> name, String written, String kind) {
        String to = SCHEMAS.get(random.nextInt(SCHEMAS.size()));
        boolean fits = name.isPresent() && model.schemas.contains(to) && !model.has(to + "." + kind);
        return run(
                place,
                "ALTER " + sqlName(kind) + " " + written + " SET SCHEMA " + to,
                fits,
                () -> model.rename(Map.of(name.orElseThrow(), to + "." + kind)));
    }

    private Optional<SqlState> create(String place, Optional<String> schema, String written, String kind) {
        Optional<String> name = schema.filter(model.schemas::contains).map(in -> in + "." + kind);
        boolean fits = name.isPresent() && !model.has(name.get());
        if (isTable(kind)) {
            return run(
                    place,
                    "CREATE TABLE " + written + " (a INT)",
                    fits,
                    () -> model.tables.put(name.orElseThrow(), new ArrayList<>()));
        }
        boolean isQualified = random.nextBoolean();
        String other = SCHEMAS.get(random.nextInt(SCHEMAS.size()));
        String table = random.nextBoolean() ? "t" : "u";
        Optional<String> read = meant(isQualified, other, table);
        String from = isQualified ? other + "." + table : table;
        String text = kind.equals("v")
                ? "CREATE VIEW " + written + " AS SELECT " + table + ".a FROM " + from
                : "CREATE MATERIALIZED VIEW " + written + " AS WITH x AS (SELECT * FROM " + from
                        + ") SELECT count(*) AS n, sum(a) AS s FROM x AS t";
        return run(
                place, text, fits && read.isPresent(), () -> model.views.put(name.orElseThrow(), read.orElseThrow()));
    }

    private Optional<String> first() {
        return path.stream().filter(model.schemas::contains).findFirst();
    }

    /** The full name of what a name means. */
    private Optional<String> meant(boolean isQualified, String schema, String name) {
        return (isQualified ? List.of(schema) : path)
                .stream().map(in -> in + "." + name).filter(model::has).findFirst();
    }

    private Optional<SqlState> run(String place, String statement, boolean fits, Runnable change) {
        try {
            database.run(statement);
        } catch (MillraceException e) {
            boolean isHeld = place.contains("transaction") && e.sqlState() == SqlState.FEATURE_NOT_SUPPORTED;
            assertEquals(fits && isHeld, fits, place + statement + ": " + e.getMessage());
            return Optional.of(e.sqlState());
        }
        assertEquals(true, fits, place + statement + " of " + model + " by " + path);
        change.run();
        return Optional.empty();
    }

    private void check(String place) {
        Map<String, String> comments = new TreeMap<>();
        database.rows(
                        "SELECT nspname || '.' || relname, description FROM pg_description JOIN pg_class c ON c.oid = objoid"
                                + " JOIN pg_namespace n ON n.oid = relnamespace UNION ALL SELECT nspname, description FROM"
                                + " pg_description JOIN pg_namespace n ON n.oid = objoid")
                .forEach(row -> comments.put(row.substring(0, row.indexOf('|')), row.substring(row.indexOf('|') + 1)));
        assertEquals(model.comments, comments, place);
        for (String schema : SCHEMAS) {
            for (String kind : NAMES) {
                String name = schema + "." + kind;
                assertEquals(answer(Optional.of(name).filter(model::has)), asked(name), place + name);
            }
        }
        for (String kind : NAMES) {
            assertEquals(answer(meant(false, "", kind)), asked(kind), place + kind + " by " + path + " of " + model);
        }
    }

    private List<String> asked(String name) {
        try {
            return database.flushedRows("SELECT * FROM " + name);
        } catch (MillraceException e) {
            return List.of(e.sqlState().code());
        }
    }

    private List<String> answer(Optional<String> name) {
        if (name.isEmpty()) {
            return List.of("42P01");
        }
        List<Integer> rows = model.tables.get(model.views.getOrDefault(name.get(), name.get()));
        if (name.get().endsWith(".m")) {
            return List.of(rows.size() + "|"
                    + (rows.isEmpty()
                            ? ""
                            : rows.stream().mapToInt(Integer::intValue).sum()));
        }
        return rows.stream().map(String::valueOf).sorted().toList();
    }
}
