package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.statement.Statement.Returning;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.FieldVector;

/**
 * INSERT into a table with a key, with or without ON CONFLICT, and ON CONFLICT DO UPDATE by a UNIQUE constraint into any.
 *
 * <pre>
 *   rows --- key is free, first of it ------------------------------> inserted
 *        \-- key is taken --- DO NOTHING: passed over
 *                          \- DO UPDATE: row that is there + row ---> changed, once at most (21000)
 * </pre>
 */
final class Upserts {
    private final Writes writes;
    private final Queries queries;
    private final IncomingRows incoming;
    private final ReturnedRows returned;
    private final BufferAllocator allocator;

    Upserts(Writes writes, Queries queries, IncomingRows incoming, ReturnedRows returned, BufferAllocator allocator) {
        this.writes = writes;
        this.queries = queries;
        this.incoming = incoming;
        this.returned = returned;
        this.allocator = allocator;
    }

    /**
     * Inserts rows of the table, which stay the caller's. With the table's lock held.
     *
     * @param returning over the rows that are there afterwards
     */
    StatementResult insert(
            OnConflict onConflict,
            Optional<Returning> returning,
            CatalogObject table,
            ChangedTable changed,
            Batch rows) {
        if (onConflict instanceof OnConflict.Successive successive) {
            KeyChoices.claim(changed, rows);
            return new SuccessiveUpserts(this, writes, returned, table, changed, allocator)
                    .insert(successive.each(), returning, rows);
        }
        TableKeys keys = changed.keys();
        boolean updates = onConflict instanceof OnConflict.Update || onConflict instanceof OnConflict.Replace;
        if (!updates) {
            changed.claim(KeyChoices.keysOf(keys, rows));
            Optional<OnConflict.DoNothing> skips = nothing(onConflict);
            return insertNew(returning, table, changed, rows, KeyChoices.newKeys(changed, rows, skips));
        }
        KeyChoices.claim(changed, rows);
        Optional<String> byUnique = changedUnique(onConflict);
        InTheWay way = byUnique.<InTheWay>map(unique -> new TakenValues(unique, table, changed, queries, allocator))
                .orElseGet(() -> new TakenKeys(table, changed, allocator));
        Sorted sorted = sorted(way, rows);
        if (sorted.taken.isEmpty()) {
            if (!keys.hasKey()) {
                return insertWithoutKey(returning, changed, rows);
            }
            Map<String, Integer> fresh = byUnique.isPresent()
                    ? KeyChoices.newKeys(changed, rows, Optional.empty())
                    : sorted.keys; // which are the primary ones
            return insertNew(returning, table, changed, rows, fresh);
        }
        return update(onConflict, returning, table, changed, rows, way, sorted);
    }

    /** The UNIQUE constraint by which DO UPDATE finds rows, if it does. */
    static Optional<String> changedUnique(OnConflict onConflict) {
        return onConflict instanceof OnConflict.Update update
                ? update.unique()
                : onConflict instanceof OnConflict.Replace replace ? replace.unique() : Optional.empty();
    }

    /**
     * The rows to be inserted.
     *
     * @param fresh the numbers of those that nothing is in the way of
     * @param keys of these the ones there are, with the numbers
     * @param taken of the others
     * @param last of the others the last of each key
     */
    private record Sorted(
            List<Integer> fresh, Map<String, Integer> keys, List<Integer> taken, Map<String, Integer> last) {}

    private static Sorted sorted(InTheWay way, Batch rows) {
        Sorted sorted = new Sorted(new ArrayList<>(), new LinkedHashMap<>(), new ArrayList<>(), new HashMap<>());
        for (int row = 0; row < rows.rowCount(); row++) {
            Optional<String> key = way.keyOf(rows, row);
            if (key.filter(way::isTaken).isPresent()) {
                sorted.taken.add(row);
                sorted.last.put(key.get(), row);
            } else {
                if (key.isPresent() && sorted.keys.put(key.get(), row) != null) {
                    throw twice();
                }
                sorted.fresh.add(row);
            }
        }
        return sorted;
    }

    private StatementResult insertWithoutKey(Optional<Returning> returning, ChangedTable changed, Batch rows) {
        StatementResult answer = returned.of("INSERT", returning, rows);
        return Writes.unlessItFails(answer, () -> Writes.write(changed, rows.retain()));
    }

    private static Optional<OnConflict.DoNothing> nothing(OnConflict onConflict) {
        return onConflict instanceof OnConflict.DoNothing nothing ? Optional.of(nothing) : Optional.empty();
    }

    /** Rows of a table without a key, less those that DO NOTHING passes over; they stay the caller's. */
    Batch unlessThere(Statement.Insert insert, CatalogObject table, ChangedTable changed, Batch rows) {
        Optional<OnConflict.DoNothing> skips = nothing(insert.onConflict());
        Set<String> values = new HashSet<>();
        List<Integer> free = IntStream.range(0, rows.rowCount())
                .filter(row -> KeyChoices.isFree(changed, rows, row, skips, values))
                .boxed()
                .toList();
        return pick(rows, free, table);
    }

    private static MillraceException twice() {
        return MillraceException.user(
                        SqlState.CARDINALITY_VIOLATION, "ON CONFLICT DO UPDATE command cannot affect row a second time")
                .withHint("no two rows of one INSERT may have the same key; SELECT DISTINCT ON (key) .. chooses one");
    }

    private StatementResult insertNew(
            Optional<Returning> returning,
            CatalogObject table,
            ChangedTable changed,
            Batch rows,
            Map<String, Integer> fresh) {
        try (Batch inserted = pick(rows, fresh.values(), table)) {
            StatementResult answer = returned.of("INSERT", returning, inserted);
            return Writes.unlessItFails(answer, () -> add(changed, inserted, fresh));
        }
    }

    /** Adds rows in the order of their keys. */
    private static void add(ChangedTable changed, Batch rows, Map<String, Integer> keys) {
        Writes.write(changed, rows.retain());
        Map<String, Integer> places = new LinkedHashMap<>();
        keys.keySet().forEach(key -> places.put(key, places.size()));
        changed.put(rows, places.entrySet());
    }

    /** Rows by their numbers, which ascend. */
    private Batch pick(Batch from, Collection<Integer> rows, CatalogObject table) {
        if (rows.size() == from.rowCount()) {
            return from.retain();
        }
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            rows.forEach(row -> copier.copy(from, columns, row, 1));
            return copier.build();
        }
    }

    // ---- DO UPDATE -------------------------------------------------------------------------------------------------

    private StatementResult update(
            OnConflict onConflict,
            Optional<Returning> returning,
            CatalogObject table,
            ChangedTable changed,
            Batch rows,
            InTheWay way,
            Sorted sorted) {
        int[] taken = sorted.taken.stream().mapToInt(row -> row).toArray();
        List<String> keys = sorted.taken.stream()
                .map(row -> way.keyOf(rows, row).orElseThrow())
                .toList();
        try (Batch there = way.rows(keys);
                Changes changes = changes(onConflict, table, there, rows, taken)) {
            requireOnce(way, changes, sorted.last);
            try (Batch added = pick(rows, sorted.fresh, table);
                    Batch arriving = together(table, List.of(changes.arriving, added));
                    Batch shown = returning.isEmpty() // then only their number is told
                            ? arriving.retain()
                            : inOrder(table, added, sorted.fresh, changes.arriving, changes.numbers)) {
                return writes.replace(
                        table, changed, changes.outgoing, arriving, () -> returned.of("INSERT", returning, shown));
            }
        }
    }

    /** A copy, since the table keeps it: what it is made of holds columns that nobody needs any more. */
    Batch together(CatalogObject table, List<Batch> parts) {
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            parts.forEach(part -> copier.copyAll(part, columns));
            return copier.build();
        }
    }

    /** Rows in the place of others, and for each the number of the row that was to be inserted. */
    record Changes(Batch outgoing, Batch arriving, int[] numbers) implements AutoCloseable {
        @Override
        public void close() {
            outgoing.close();
            arriving.close();
        }
    }

    /**
     * What DO UPDATE makes of rows, all of them checked.
     *
     * @param there the rows in the way, one for each that is taken
     * @param taken the numbers of those that they are in the way of
     */
    Changes changes(OnConflict onConflict, CatalogObject table, Batch there, Batch rows, int[] taken) {
        return onConflict instanceof OnConflict.Replace replace
                ? replaced(replace, table, there, rows, taken)
                : computed((OnConflict.Update) onConflict, table, there, rows, taken);
    }

    private Changes replaced(OnConflict.Replace replace, CatalogObject table, Batch there, Batch rows, int[] taken) {
        FieldVector[] columns = new FieldVector[table.schema().size()];
        try (Batch proposed = pick(rows, numbered(taken), table)) {
            for (int column = 0; column < columns.length; column++) {
                columns[column] = (replace.columns().contains(column) ? proposed : there).column(column);
            }
            Batch after = Batch.view(
                    table.schema(),
                    columns,
                    taken.length,
                    Optional.empty(),
                    List.of(there.retain(), proposed.retain()));
            Batch arriving = incoming.checked(after, table);
            return new Changes(there.retain(), arriving, taken);
        }
    }

    private static List<Integer> numbered(int[] rows) {
        return IntStream.of(rows).boxed().toList();
    }

    private Changes computed(OnConflict.Update update, CatalogObject table, Batch there, Batch rows, int[] taken) {
        int columns = table.schema().size();
        int[] old = IntStream.range(0, columns).toArray();
        int[] changed = IntStream.range(columns, 2 * columns).toArray();
        try (Batch pairs = pairs(table, there, rows, taken);
                Batch result = queries.whole(queries.over(update.changes(), pairs));
                RowCopier outgoing = new RowCopier(table.schema(), allocator);
                RowCopier arriving = new RowCopier(table.schema(), allocator)) {
            BigIntVector numbers = (BigIntVector) result.column(2 * columns);
            List<Integer> order = IntStream.range(0, result.rowCount())
                    .boxed()
                    .sorted((a, b) -> Long.compare(numbers.get(a), numbers.get(b)))
                    .toList();
            order.forEach(row -> {
                outgoing.copy(result, old, row, 1);
                arriving.copy(result, changed, row, 1);
            });
            int[] of = order.stream().mapToInt(row -> (int) numbers.get(row)).toArray();
            Batch after = incoming.checked(arriving.build(), table);
            return new Changes(outgoing.build(), after, of);
        }
    }

    /** The rows that are there, the rows for which they are in the way, and the numbers of these, side by side. */
    private Batch pairs(CatalogObject table, Batch there, Batch rows, int[] taken) {
        int columns = table.schema().size();
        Schema schema =
                table.schema().concat(table.schema()).concat(Schema.of(new Field("number", DataType.BIGINT, false)));
        FieldVector[] all = new FieldVector[2 * columns + 1];
        try (Batch proposed = pick(rows, numbered(taken), table)) {
            for (int column = 0; column < columns; column++) {
                all[column] = there.column(column);
                all[columns + column] = proposed.column(column);
            }
            try (Batch numbers = numbers(taken)) {
                all[2 * columns] = numbers.column(0);
                return Batch.view(
                        schema,
                        all,
                        taken.length,
                        Optional.empty(),
                        List.of(there.retain(), proposed.retain(), numbers.retain()));
            }
        }
    }

    private Batch numbers(int[] values) {
        BigIntVector vector = new BigIntVector("number", allocator);
        for (int row = 0; row < values.length; row++) {
            vector.setSafe(row, values[row]);
        }
        vector.setValueCount(values.length);
        return Batch.of(
                Schema.of(new Field("number", DataType.BIGINT, false)), new FieldVector[] {vector}, values.length);
    }

    /** A row that was changed is not changed again: no later row may have its key. */
    private static void requireOnce(InTheWay way, Changes changes, Map<String, Integer> last) {
        for (int row = 0; row < changes.outgoing.rowCount(); row++) {
            String key = way.keyOf(changes.outgoing, row).orElseThrow();
            if (Objects.requireNonNull(last.get(key)) > changes.numbers[row]) {
                throw twice();
            }
        }
    }

    /** What was inserted and what was changed, in the order of the rows that came. */
    private Batch inOrder(
            CatalogObject table, Batch added, Iterable<Integer> addedNumbers, Batch updated, int[] updatedNumbers) {
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            int next = 0;
            int row = 0;
            for (int number : addedNumbers) {
                while (next < updatedNumbers.length && updatedNumbers[next] < number) {
                    copier.copy(updated, columns, next++, 1);
                }
                copier.copy(added, columns, row++, 1);
            }
            while (next < updatedNumbers.length) {
                copier.copy(updated, columns, next++, 1);
            }
            return copier.build();
        }
    }
}
