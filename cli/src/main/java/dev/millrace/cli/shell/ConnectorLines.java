package dev.millrace.cli.shell;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Session;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What {@code \d} says of a relation with a connector: which, and how it is with its outside. */
final class ConnectorLines {
    private static final String SOURCES = "SELECT coalesce(' of query ' || query, ''), split, position, lag_records,"
            + " round(lag_seconds::numeric, 1), records, retries, waits_for FROM millrace.sources WHERE stream = $1"
            + " ORDER BY query NULLS FIRST, split";
    private static final String SINKS =
            "SELECT '', target, NULL, waiting_records, round(silent_seconds::numeric, 1), records, NULL,"
                    + " waits_for FROM millrace.sinks WHERE sink = $1 ORDER BY target";

    private final Session session;

    ConnectorLines(Session session) {
        this.session = session;
    }

    /** Writes a line for the connector, and one for each split or target: of several only those that wait, unless all are wanted. */
    void write(CatalogObject object, boolean all, Writer out) throws IOException {
        Optional<String> connector = Optional.ofNullable(object.options().get("connector"));
        if (connector.isEmpty()) {
            return;
        }
        boolean isSink = object.kind() == ObjectKind.SINK;
        List<List<Optional<String>>> rows = rows(session, isSink ? SINKS : SOURCES, object.name());
        out.write("Connector: " + connector.get() + (rows.size() > 1 ? " (" + rows.size() + " splits)" : "") + "\n");
        for (List<Optional<String>> row : rows) {
            if (all || rows.size() == 1 || row.get(7).isPresent()) {
                out.write("    " + line(row, isSink) + "\n");
            }
        }
    }

    private static String line(List<Optional<String>> row, boolean isSink) {
        List<String> parts = new ArrayList<>();
        row.get(2).ifPresent(position -> parts.add("at " + position));
        row.get(3).ifPresent(records -> parts.add(records + (isSink ? " records wait" : " records behind")));
        row.get(4)
                .filter(seconds -> !isSink || !seconds.equals("0.0"))
                .ifPresent(seconds -> parts.add(isSink ? "silent for " + seconds + " s" : seconds + " s behind"));
        row.get(5).ifPresent(records -> parts.add(records + (isSink ? " records written" : " records read")));
        row.get(6).filter(retries -> !retries.equals("0")).ifPresent(retries -> parts.add(retries + " retries"));
        row.get(7).ifPresent(reason -> parts.add("waits for " + reason));
        return row.get(1).orElse("") + row.get(0).orElse("") + ": " + String.join(", ", parts);
    }

    /** The texts of the rows of a query that has a parameter. */
    static List<List<Optional<String>>> rows(Session session, String sql, String name) {
        List<List<Optional<String>>> rows = new ArrayList<>();
        try (StatementResult.Rows result = session.query(sql, name)) {
            for (Optional<Batch> next = result.next(); next.isPresent(); next = result.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        List<Optional<String>> values = new ArrayList<>();
                        for (int column = 0; column < batch.columnCount(); column++) {
                            values.add(ValueText.format(batch, column, row));
                        }
                        rows.add(values);
                    }
                }
            }
        }
        return rows;
    }
}
