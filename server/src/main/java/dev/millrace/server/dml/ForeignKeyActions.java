package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Reference;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.transaction.ValueCounts;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.ForeignKey.Action;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.text.Identifiers;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * ON DELETE and ON UPDATE of foreign keys: statements that change the rows which reference what is gone, done as any other. Belongs to the
 * session's thread.
 */
final class ForeignKeyActions {
    /** Values in the condition of one statement, which an index answers up to there. */
    private static final int MOST_VALUES = 1000;

    private final Instance database;
    private final Writes writes;

    ForeignKeyActions(Instance database, Writes writes) {
        this.database = database;
        this.writes = writes;
    }

    /**
     * Keys that rows are gone of.
     *
     * @param deleted the values of the columns, as texts, by the text of the key
     * @param updated likewise, with the new ones behind them, empty where one is NULL
     */
    record Gone(Map<String, List<Optional<String>>> deleted, Map<String, List<Optional<String>>> updated) {
        /** Those of some texts, in changes in which a row that takes another's place is just behind it. */
        static Gone of(List<Batch> changes, int[] columns, Set<String> texts) {
            Gone gone = new Gone(new LinkedHashMap<>(), new LinkedHashMap<>());
            for (Batch batch : changes) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    Optional<String> text = weight(batch, row) < 0
                            ? ValueCounts.text(batch, columns, row).filter(texts::contains)
                            : Optional.empty();
                    if (text.isEmpty()) {
                        continue;
                    }
                    List<Optional<String>> values = new ArrayList<>(values(batch, columns, row));
                    boolean isUpdate = row + 1 < batch.rowCount() && weight(batch, row + 1) > 0;
                    if (isUpdate) {
                        values.addAll(values(batch, columns, row + 1));
                    }
                    (isUpdate ? gone.updated : gone.deleted).put(text.get(), values);
                }
            }
            return gone;
        }

        private static long weight(Batch batch, int row) {
            return batch.weights().map(weights -> weights.get(row)).orElse(1L);
        }

        private static List<Optional<String>> values(Batch batch, int[] columns, int row) {
            return IntStream.of(columns)
                    .mapToObj(column -> ValueText.format(batch, column, row))
                    .toList();
        }
    }

    /** Does what a foreign key says; returns whether that is anything. */
    boolean act(Reference reference, Gone gone) {
        ForeignKey key = reference.key();
        boolean acted = false;
        if (!gone.deleted().isEmpty() && changes(key.onDelete())) {
            act(reference, key.onDelete(), gone.deleted().values());
            acted = true;
        }
        if (!gone.updated().isEmpty() && changes(key.onUpdate())) {
            if (key.onUpdate() == Action.CASCADE) {
                follow(reference, gone.updated().values());
            } else {
                act(reference, key.onUpdate(), gone.updated().values());
            }
            acted = true;
        }
        return acted;
    }

    private static boolean changes(Action action) {
        return action != Action.NO_ACTION && action != Action.RESTRICT;
    }

    private void act(Reference reference, Action action, Collection<List<Optional<String>>> keys) {
        String table = RelationNames.quoted(reference.table());
        String toWhat = action == Action.SET_NULL ? "NULL" : "DEFAULT";
        String does = action == Action.CASCADE
                ? "DELETE FROM " + table
                : "UPDATE " + table + " SET "
                        + reference.key().columns().stream()
                                .map(column -> Identifiers.quote(column) + " = " + toWhat)
                                .collect(Collectors.joining(", "));
        List<List<Optional<String>>> all = List.copyOf(keys);
        for (int from = 0; from < all.size(); from += MOST_VALUES) {
            List<List<Optional<String>>> some = all.subList(from, Math.min(all.size(), from + MOST_VALUES));
            execute(does + " WHERE " + where(reference, some));
        }
    }

    /** Rows get the new values of the keys that they reference. */
    private void follow(Reference reference, Collection<List<Optional<String>>> keys) {
        List<String> columns = reference.key().columns();
        CatalogObject object = database.catalog().object(reference.table()).orElseThrow();
        String table = RelationNames.quoted(reference.table());
        if (keys.size() == 1) {
            List<Optional<String>> values = keys.iterator().next();
            String set = IntStream.range(0, columns.size())
                    .mapToObj(place ->
                            Identifiers.quote(columns.get(place)) + " = " + literal(values.get(columns.size() + place)))
                    .collect(Collectors.joining(", "));
            execute("UPDATE " + table + " SET " + set + " WHERE " + where(reference, List.copyOf(keys)));
            return;
        }
        String set = IntStream.range(0, columns.size())
                .mapToObj(place -> Identifiers.quote(columns.get(place)) + " = k.n" + place)
                .collect(Collectors.joining(", "));
        String same = IntStream.range(0, columns.size())
                .mapToObj(place -> "t." + Identifiers.quote(columns.get(place)) + " = k.o" + place)
                .collect(Collectors.joining(" AND "));
        String names = IntStream.range(0, 2 * columns.size())
                .mapToObj(place -> (place < columns.size() ? "o" : "n") + place % columns.size())
                .collect(Collectors.joining(", "));
        String rows = keys.stream()
                .map(values -> IntStream.range(0, values.size())
                        .mapToObj(place -> "CAST(" + literal(values.get(place)) + " AS "
                                + object.schema().type(object.schema().indexOf(columns.get(place % columns.size())))
                                + ")")
                        .collect(Collectors.joining(", ", "(", ")")))
                .collect(Collectors.joining(", "));
        execute("UPDATE " + table + " AS t SET " + set + " FROM (VALUES " + rows + ") AS k(" + names + ") WHERE "
                + same);
    }

    private static String where(Reference reference, List<List<Optional<String>>> keys) {
        List<String> columns = reference.key().columns();
        if (columns.size() == 1) {
            return Identifiers.quote(columns.get(0)) + " IN ("
                    + keys.stream().map(values -> literal(values.get(0))).collect(Collectors.joining(", ")) + ")";
        }
        return keys.stream()
                .map(values -> IntStream.range(0, columns.size())
                        .mapToObj(place -> Identifiers.quote(columns.get(place)) + " = " + literal(values.get(place)))
                        .collect(Collectors.joining(" AND ", "(", ")")))
                .collect(Collectors.joining(" OR "));
    }

    private static String literal(Optional<String> value) {
        return value.map(Identifiers::quoteText).orElse("NULL");
    }

    private void execute(String text) {
        Statement statement = database.frontend()
                .analyze(database.frontend().parse(text).get(0), database.catalog(), Parameters.none());
        if (statement instanceof Statement.Delete delete) {
            writes.delete(delete).close();
        } else {
            writes.update((Statement.Update) statement).close();
        }
    }
}
