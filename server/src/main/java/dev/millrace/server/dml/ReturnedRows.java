package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.sql.statement.Statement.Returning;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/** What a statement that changes rows answers: how many, or what RETURNING says of them. */
final class ReturnedRows {
    private final Queries queries;

    ReturnedRows(Queries queries) {
        this.queries = queries;
    }

    /**
     * The answer, computed before anything is changed: what it reads is as the statement found it, and when it fails nothing
     * happened.
     *
     * @param command the command tag's word
     * @param changed the rows, which stay the caller's
     */
    StatementResult of(String command, Optional<Returning> returning, Batch changed) {
        if (returning.isEmpty()) {
            return Command.of(command, changed.rowCount());
        }
        List<Integer> columns = returning.get().columns();
        if (changed.rowCount() == 0) {
            return FixedRows.none(returning.get().query().schema());
        }
        if (columns.isEmpty()) {
            return FixedRows.of(queries.whole(queries.over(returning.get().query(), changed)));
        }
        return FixedRows.of(Batch.view(
                returning.get().query().schema(),
                columns.stream().map(changed::column).toArray(FieldVector[]::new),
                changed.rowCount(),
                Optional.empty(),
                List.of(changed.retain())));
    }
}
