package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.rows.RowCopier;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.statement.Statement.Returning;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/**
 * INSERT and COPY into a table that says itself what a taken key means: of the rows of one key each finds what those before it made,
 * and the table is changed once, when all is computed.
 *
 * <pre>
 *   rounds of rows, the n-th of each key --- key is free -> the row is there now
 *                                        \-- key is taken -> what is there now + row -> is there now
 * </pre>
 */
final class SuccessiveUpserts {
    /** A row that is there now. */
    private record Place(Batch batch, int row) {}

    private final Upserts upserts;
    private final Writes writes;
    private final ReturnedRows returned;
    private final CatalogObject table;
    private final ChangedTable changed;
    private final BufferAllocator allocator;

    SuccessiveUpserts(
            Upserts upserts,
            Writes writes,
            ReturnedRows returned,
            CatalogObject table,
            ChangedTable changed,
            BufferAllocator allocator) {
        this.upserts = upserts;
        this.writes = writes;
        this.returned = returned;
        this.table = table;
        this.changed = changed;
        this.allocator = allocator;
    }

    /** Inserts rows of the table, which stay the caller's. With the table's lock held. */
    StatementResult insert(OnConflict each, Optional<Returning> returning, Batch rows) {
        List<String> keys = new ArrayList<>(rows.rowCount());
        for (int row = 0; row < rows.rowCount(); row++) {
            keys.add(changed.keys().keyOf(rows, row));
        }
        List<String> taken = keys.stream().distinct().filter(changed::contains).toList();
        List<Batch> made = new ArrayList<>();
        try (Batch there = new TakenKeys(table, changed, allocator).rows(taken)) {
            Map<String, Place> now = new LinkedHashMap<>();
            for (int row = 0; row < taken.size(); row++) {
                now.put(taken.get(row), new Place(there, row));
            }
            for (List<Integer> round : rounds(each, keys)) {
                Interrupt.current().check();
                take(each, rows, keys, round, now, made);
            }
            List<Integer> left = new ArrayList<>();
            for (int row = 0; row < taken.size(); row++) {
                if (Objects.requireNonNull(now.get(taken.get(row))).batch != there) {
                    left.add(row);
                }
            }
            List<Place> arrived = new ArrayList<>(); // the first in the place of those that leave
            left.forEach(row -> arrived.add(now.remove(taken.get(row))));
            now.values().stream().filter(place -> place.batch != there).forEach(arrived::add);
            try (Batch outgoing =
                            copy(left.stream().map(row -> new Place(there, row)).toList());
                    Batch arriving = copy(arrived)) {
                return writes.replace(
                        table, changed, outgoing, arriving, () -> returned.of("INSERT", returning, arriving));
            }
        } finally {
            Closing.all(made);
        }
    }

    /** The rows by their numbers, so that each key is at most once in a round; where a row takes the whole place only the last of each. */
    private static List<List<Integer>> rounds(OnConflict each, List<String> keys) {
        if (each instanceof OnConflict.Replace) {
            Map<String, Integer> last = new LinkedHashMap<>();
            for (int row = 0; row < keys.size(); row++) {
                last.put(keys.get(row), row);
            }
            return List.of(List.copyOf(last.values()));
        }
        List<List<Integer>> rounds = new ArrayList<>();
        Map<String, Integer> seen = new HashMap<>();
        for (int row = 0; row < keys.size(); row++) {
            int round = seen.merge(keys.get(row), 1, Integer::sum);
            if (round > rounds.size()) {
                rounds.add(new ArrayList<>());
            }
            rounds.get(round - 1).add(row);
        }
        return rounds;
    }

    private void take(
            OnConflict each,
            Batch rows,
            List<String> keys,
            List<Integer> round,
            Map<String, Place> now,
            List<Batch> made) {
        List<Integer> met =
                round.stream().filter(row -> now.containsKey(keys.get(row))).toList();
        if (!met.isEmpty()) {
            try (Batch old =
                            copy(met.stream().map(row -> now.get(keys.get(row))).toList());
                    Upserts.Changes changes = upserts.changes(
                            each,
                            table,
                            old,
                            rows,
                            met.stream().mapToInt(row -> row).toArray())) {
                Batch after = changes.arriving().retain();
                made.add(after);
                for (int row = 0; row < after.rowCount(); row++) {
                    now.put(keys.get(changes.numbers()[row]), new Place(after, row));
                }
            }
        }
        round.forEach(row -> now.putIfAbsent(keys.get(row), new Place(rows, row)));
    }

    private Batch copy(List<Place> places) {
        int[] columns = Writes.allColumns(table);
        try (RowCopier copier = new RowCopier(table.schema(), allocator)) {
            places.forEach(place -> copier.copy(place.batch, columns, place.row, 1));
            return copier.build();
        }
    }
}
