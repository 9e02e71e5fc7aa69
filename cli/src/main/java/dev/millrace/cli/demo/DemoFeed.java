package dev.millrace.cli.demo;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** One subscription, polled without waiting: an ordinary session with an ordinary SUBSCRIBE. */
final class DemoFeed implements AutoCloseable {
    private final Session session;
    private final StatementResults statement;
    private final StatementResult.Changes changes;

    DemoFeed(Database database, String sql) {
        session = database.session();
        statement = session.execute(sql);
        changes = (StatementResult.Changes) statement.next();
    }

    /**
     * A row that was added.
     *
     * @param epochMicros when its epoch was committed
     * @param values by column, as text; empty for NULL
     */
    record Added(long epochMicros, List<Optional<String>> values) {
        double number(int column) {
            return values.get(column).map(Double::parseDouble).orElse(0.0);
        }

        String text(int column) {
            return values.get(column).orElse("");
        }
    }

    /** All rows that were added since the last call; what they replace is of no interest to who only shows. */
    List<Added> poll() {
        List<Added> rows = new ArrayList<>();
        for (Optional<EpochChanges> next = changes.next(0); next.isPresent(); next = changes.next(0)) {
            try (EpochChanges epoch = next.get()) {
                epoch.batches().forEach(batch -> collect(batch, epoch.epochMicros(), rows));
            }
        }
        return rows;
    }

    private static void collect(Batch batch, long epochMicros, List<Added> into) {
        for (int row = 0; row < batch.rowCount(); row++) {
            int at = row;
            if (batch.weights().map(weights -> weights.get(at)).orElse(1L) > 0) {
                List<Optional<String>> values = new ArrayList<>();
                for (int column = 0; column < batch.columnCount(); column++) {
                    values.add(ValueText.format(batch, column, row));
                }
                into.add(new Added(epochMicros, values));
            }
        }
    }

    @Override
    public void close() {
        statement.close();
        session.close();
    }
}
