package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Statements that change rows. */
final class RandomHistoryChanges {
    private static final int KEYS = 24;
    private static final int PAD = 900; // characters, so that the log goes on to other segments
    private static final long FIRST_SECOND = 1_767_225_600L; // 2026-01-01

    private final HistoryModel model;
    private long second; // of the newest row with a time

    RandomHistoryChanges(HistoryModel model) {
        this.model = model;
    }

    /**
     * The next statement; none where there is nothing to change.
     *
     * @param own what the transaction did before, that the statement is of
     */
    Optional<HistoryStatement> next(Random random, Optional<ModelChange> own) {
        List<ModelObject> targets = new ArrayList<>(model.all(ModelObject.Table.class));
        model.all(ModelObject.Stream.class).stream()
                .filter(stream -> own.isEmpty() || !stream.isTimed()) // whose rows come in their order
                .forEach(targets::add);
        if (targets.isEmpty()) {
            return Optional.empty();
        }
        ModelObject target = targets.get(random.nextInt(targets.size()));
        if (target instanceof ModelObject.Stream stream) {
            return Optional.of(insert(stream, random));
        }
        ModelObject.Table table = (ModelObject.Table) target;
        List<ModelRow> rows = own.map(change -> restricted(change, table.rows()))
                .map(change -> change.applied(Map.of(table.rows(), model.rows(table.rows()))))
                .map(all -> all.getOrDefault(table.rows(), List.of()))
                .orElseGet(() -> model.rows(table.rows()));
        int kind = random.nextInt(20);
        if (kind < 6) {
            return Optional.of(insert(table, rows, random, false));
        } else if (kind < 8) {
            return Optional.of(insert(table, rows, random, true));
        } else if (kind < 12) {
            return Optional.of(update(table, rows, random));
        } else if (kind < 15) {
            return Optional.of(delete(table, rows, random));
        } else if (kind < 19) {
            return Optional.of(table.isKeyed() ? upsert(table, rows, random) : insert(table, rows, random, false));
        }
        return own.isPresent()
                ? Optional.empty()
                : Optional.of(HistoryStatement.change(
                        "TRUNCATE " + table.name(), ModelChange.of(table.rows(), rows, List.of())));
    }

    /** A statement that adds rows, and reads none. */
    Optional<HistoryStatement> insertion(Random random) {
        List<ModelObject> targets = new ArrayList<>(model.all(ModelObject.Table.class));
        targets.addAll(model.all(ModelObject.Stream.class));
        if (targets.isEmpty()) {
            return Optional.empty();
        }
        ModelObject target = targets.get(random.nextInt(targets.size()));
        return Optional.of(
                target instanceof ModelObject.Stream stream
                        ? insert(stream, random)
                        : insert(
                                (ModelObject.Table) target,
                                model.rows(((ModelObject.Table) target).rows()),
                                random,
                                false));
    }

    long anyKey(Random random) {
        return random.nextInt(KEYS);
    }

    private static ModelChange restricted(ModelChange change, int relation) {
        ModelChange.Rows rows = change.of().get(relation);
        return rows == null ? ModelChange.NOTHING : ModelChange.of(relation, rows.gone(), rows.come());
    }

    private HistoryStatement insert(ModelObject.Stream stream, Random random) {
        List<ModelRow> rows = new ArrayList<>();
        List<String> values = new ArrayList<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            long value = random.nextInt(10) == 0 ? 0 : random.nextInt(100) - 50;
            ModelRow row = ModelRow.of(random.nextInt(KEYS), value);
            String given = row.key() + ", " + value;
            if (stream.isTimed()) {
                second += random.nextInt(4);
                long of = Math.max(0, second - (random.nextInt(6) == 0 ? random.nextInt(15) : 0));
                row = row.plus(FIRST_SECOND + of);
                given += ", TIMESTAMP '2026-01-01' + INTERVAL '" + of + " seconds'";
            }
            rows.add(row);
            values.add("(" + given + (stream.isWide() ? ", repeat('x', " + PAD + "))" : ")"));
        }
        return HistoryStatement.change(
                "INSERT INTO " + stream.name() + " (" + stream.columns() + ") VALUES " + String.join(", ", values),
                ModelChange.of(stream.rows(), List.of(), rows));
    }

    private static HistoryStatement insert(
            ModelObject.Table table, List<ModelRow> there, Random random, boolean copies) {
        List<ModelRow> rows = new ArrayList<>();
        for (int i = 1 + random.nextInt(random.nextInt(8) == 0 ? 12 : 3); i > 0; i--) {
            rows.add(ModelRow.of(random.nextInt(KEYS), random.nextInt(100) - 50));
        }
        boolean clashes = table.isKeyed()
                && (rows.stream().map(ModelRow::key).distinct().count() < rows.size()
                        || rows.stream().anyMatch(row -> has(there, row.key())));
        ModelChange change = ModelChange.of(table.rows(), List.of(), completed(table, rows));
        HistoryStatement statement = copies
                ? HistoryStatement.change("COPY " + table.name() + " (k, v) FROM STDIN", change)
                        .withInput(rows.stream()
                                .map(row -> row.key() + "\t" + row.value() + "\n")
                                .collect(Collectors.joining()))
                : HistoryStatement.change("INSERT INTO " + table.name() + " (k, v) VALUES " + values(rows), change);
        return clashes ? statement.failing("23505") : statement;
    }

    private static boolean has(List<ModelRow> rows, long key) {
        return rows.stream().anyMatch(row -> row.key() == key);
    }

    private static String values(List<ModelRow> rows) {
        return rows.stream()
                .map(row -> "(" + row.key() + ", " + row.value() + ")")
                .collect(Collectors.joining(", "));
    }

    private static List<ModelRow> completed(ModelObject.Table table, List<ModelRow> rows) {
        List<ModelRow> completed = new ArrayList<>();
        for (ModelRow row : rows) {
            ModelRow longer = row;
            for (Long value : table.defaults()) {
                longer = longer.plus(value);
            }
            completed.add(longer);
        }
        return completed;
    }

    private static HistoryStatement update(ModelObject.Table table, List<ModelRow> there, Random random) {
        int divisor = 2 + random.nextInt(5);
        int rest = random.nextInt(divisor);
        long plus = random.nextInt(21) - 10;
        long key = random.nextInt(KEYS);
        boolean byKey = random.nextBoolean();
        Predicate<ModelRow> where = byKey ? row -> row.key() == key : row -> row.key() % divisor == rest;
        List<ModelRow> gone = there.stream().filter(where).toList();
        List<ModelRow> come =
                gone.stream().map(row -> row.withValue(row.value() + plus)).toList();
        return HistoryStatement.change(
                "UPDATE " + table.name() + " SET v = v + " + plus + " WHERE "
                        + (byKey ? "k = " + key : "k % " + divisor + " = " + rest),
                ModelChange.of(table.rows(), gone, come));
    }

    private static HistoryStatement delete(ModelObject.Table table, List<ModelRow> there, Random random) {
        long value = random.nextInt(100) - 50;
        long key = random.nextInt(KEYS);
        boolean byKey = random.nextBoolean();
        Predicate<ModelRow> where = byKey ? row -> row.key() == key : row -> row.value() > value + 20;
        return HistoryStatement.change(
                "DELETE FROM " + table.name() + " WHERE " + (byKey ? "k = " + key : "v > " + (value + 20)),
                ModelChange.of(table.rows(), there.stream().filter(where).toList(), List.of()));
    }

    /** INSERT .. ON CONFLICT, or MERGE: a row for each of some keys is there afterwards, with the value that is given. */
    private static HistoryStatement upsert(ModelObject.Table table, List<ModelRow> there, Random random) {
        Map<Long, ModelRow> given = new LinkedHashMap<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            ModelRow row = ModelRow.of(random.nextInt(KEYS), random.nextInt(100) - 50);
            given.put(row.key(), row);
        }
        List<ModelRow> gone =
                there.stream().filter(row -> given.containsKey(row.key())).toList();
        List<ModelRow> come = new ArrayList<>();
        gone.forEach(row -> come.add(row.withValue(given.get(row.key()).value())));
        come.addAll(completed(
                table,
                given.values().stream().filter(row -> !has(there, row.key())).toList()));
        String name = table.name();
        String values = values(List.copyOf(given.values()));
        String sql = random.nextBoolean()
                ? "INSERT INTO " + name + " (k, v) VALUES " + values + " ON CONFLICT (k) DO UPDATE SET v = excluded.v"
                : "MERGE INTO " + name + " USING (VALUES " + values + ") AS given(k, v) ON " + name + ".k = given.k"
                        + " WHEN MATCHED THEN UPDATE SET v = given.v"
                        + " WHEN NOT MATCHED THEN INSERT (k, v) VALUES (given.k, given.v)";
        return HistoryStatement.change(sql, ModelChange.of(table.rows(), gone, come));
    }
}
