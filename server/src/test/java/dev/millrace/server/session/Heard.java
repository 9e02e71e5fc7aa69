package dev.millrace.server.session;

import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What a subscription has told so far, each row with how often it is there. One thread. */
public final class Heard implements AutoCloseable {
    private final StatementResults results;
    private final StatementResult.Changes changes;
    final Map<String, Long> rows = new TreeMap<>();
    private final ZSet set = new ZSet();

    /** @param relation or a query in parentheses, and what is said behind it */
    public Heard(TestDatabase database, String relation) {
        results = database.session().execute("SUBSCRIBE TO " + relation, List.of());
        changes = (StatementResult.Changes) results.next();
    }

    /** Rows that are told until nothing comes any more. */
    public Map<String, Long> all() {
        for (Optional<EpochChanges> next = changes.next(0); next.isPresent(); next = changes.next(0)) {
            try (EpochChanges epoch = next.get()) {
                epoch.batches().forEach(batch -> {
                    set.add(batch);
                    for (int row = 0; row < batch.rowCount(); row++) {
                        long weight = batch.weights().isPresent()
                                ? batch.weights().get().get(row)
                                : 1;
                        rows.merge(TestDatabase.text(batch, row), weight, Long::sum);
                    }
                });
            }
        }
        rows.values().removeIf(weight -> weight == 0);
        return rows;
    }

    /** The same as values: what was told so far. */
    public ZSet set() {
        return set;
    }

    public Schema schema() {
        return changes.schema();
    }

    @Override
    public void close() {
        results.close();
    }
}
