package dev.millrace.capture;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.testing.time.Eventually;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A database for tests; closing it fails if a byte was leaked. */
final class OpenDatabase implements AutoCloseable {
    private final Database database;

    OpenDatabase(Path directory) {
        database = Database.open(DatabaseOptions.defaults().withWorkers(2).withData(directory));
    }

    Database database() {
        return database;
    }

    void run(String sql) {
        database.execute(sql);
    }

    /** Sorted, values between bars, NULL as nothing. */
    List<String> rows(String sql) {
        List<String> rows = new ArrayList<>();
        try (StatementResult.Rows result = database.query(sql)) {
            for (Optional<Batch> next = result.next(); next.isPresent(); next = result.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        int at = row;
                        rows.add(IntStream.range(0, batch.columnCount())
                                .mapToObj(column ->
                                        ValueText.format(batch, column, at).orElse(""))
                                .collect(Collectors.joining("|")));
                    }
                }
            }
        }
        return rows.stream().sorted().toList();
    }

    void holds(String sql, List<String> rows) {
        String what = sql + " gives " + (rows.size() > 20 ? rows.size() + " rows" : rows);
        List<List<String>> last = new ArrayList<>(List.of(List.of()));
        try {
            Eventually.holds(what, () -> {
                last.set(0, rows(sql));
                return last.get(0).equals(rows);
            });
        } catch (AssertionError e) {
            throw new AssertionError(
                    what + "; it gave " + last.get(0).stream().limit(50).toList() + "; "
                            + rows("SELECT stream, position, last_error, waits_for FROM millrace.sources"),
                    e);
        }
    }

    @Override
    public void close() {
        database.close();
    }
}
