package dev.millrace.server.differential;

import dev.millrace.batch.Batch;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Session;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a SELECT gave.
 *
 * @param rows in the order they came
 */
record Answers(Schema schema, List<Row> rows) {
    /** Executes statements; the rows of the last one that had rows. */
    static Answers of(Session session, String sql) {
        Answers answers = new Answers(new Schema(List.of()), List.of());
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                try (StatementResult result = results.next()) {
                    if (result instanceof StatementResult.Rows rows) {
                        answers = read(rows);
                    }
                }
            }
        }
        return answers;
    }

    private static Answers read(StatementResult.Rows rows) {
        List<Row> all = new ArrayList<>();
        for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
            try (Batch batch = next.get()) {
                all.addAll(TestBatches.rows(batch));
            }
        }
        return new Answers(rows.schema(), all);
    }
}
