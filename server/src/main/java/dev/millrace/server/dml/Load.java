package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.OnConflict;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Rows that come in many batches. Those of a stream take effect as they come, those of a table all at once at the end. */
final class Load implements AutoCloseable {
    private final Writes writes;
    private final Queries queries;
    private final IncomingRows incoming;
    private final Upserts upserts;
    private final CatalogObject target;
    private final List<Integer> columns;
    private final Optional<Query> defaults;
    private final OnConflict onConflict;
    private final List<Batch> kept = new ArrayList<>();

    /**
     * @param columns which of the target's columns the batches have, and behind them those that {@code defaults} adds
     * @param copy its defaults are over the batches as they come
     */
    Load(
            Writes writes,
            Queries queries,
            IncomingRows incoming,
            Upserts upserts,
            CatalogObject target,
            List<Integer> columns,
            Statement.CopyFrom copy) {
        this.writes = writes;
        this.queries = queries;
        this.incoming = incoming;
        this.target = target;
        this.columns = columns;
        this.upserts = upserts;
        this.defaults = copy.computed();
        this.onConflict = copy.onConflict();
    }

    /** Takes a batch over. */
    void add(Batch batch) {
        Batch given = defaults.isPresent() ? withDefaults(batch) : batch;
        Batch rows = incoming.widened(given, columns, target);
        if (target.kind() == ObjectKind.STREAM) {
            writes.append(target, rows);
        } else {
            kept.add(rows);
        }
    }

    private Batch withDefaults(Batch batch) {
        try (batch) {
            return queries.whole(queries.over(defaults.get(), batch));
        }
    }

    void finish() {
        if (!kept.isEmpty()) {
            writes.change(target, false, true, this::intoTable);
        }
    }

    private StatementResult intoTable(ChangedTable changed) {
        TableKeys keys = changed.keys();
        if (!(onConflict instanceof OnConflict.Fail)) {
            try (Batch rows = upserts.together(target, kept)) {
                return upserts.insert(onConflict, Optional.empty(), target, changed, rows);
            }
        }
        if (keys.hasKey()) {
            KeyChoices.claim(changed, kept.toArray(Batch[]::new));
            Set<String> arriving = new HashSet<>();
            for (Batch batch : kept) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    String key = keys.keyOf(batch, row);
                    if (changed.contains(key) || !arriving.add(key)) {
                        throw keys.duplicate(batch, row);
                    }
                }
            }
        }
        changed.write(kept.stream().map(Batch::retain).toList());
        if (keys.hasKey()) {
            for (Batch batch : kept) {
                Map<String, Integer> rows = new LinkedHashMap<>();
                for (int row = 0; row < batch.rowCount(); row++) {
                    rows.put(keys.keyOf(batch, row), row);
                }
                changed.put(batch, rows.entrySet());
            }
        }
        return Command.of("COPY");
    }

    @Override
    public void close() {
        Closing.all(kept);
        kept.clear();
    }
}
