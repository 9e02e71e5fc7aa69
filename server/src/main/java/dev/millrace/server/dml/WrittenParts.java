package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.FixedRows;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.WithChanges;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * WITH that changes rows. Its parts are done one after the other in a transaction, of their own where there is none, whose
 * changes nobody sees before the last part is done: not the parts either, but for what those before them return.
 */
public final class WrittenParts {
    private final Queries queries;
    private final Transactions transactions;
    private final ForeignKeyChecks foreignKeys;
    private final Function<Statement, StatementResult> execute;

    /** @param execute does one part */
    public WrittenParts(
            Queries queries,
            Transactions transactions,
            ForeignKeyChecks foreignKeys,
            Function<Statement, StatementResult> execute) {
        this.foreignKeys = foreignKeys;
        this.queries = queries;
        this.transactions = transactions;
        this.execute = execute;
    }

    /** Foreign keys are checked behind the last part. */
    public StatementResult execute(WithChanges with) {
        return foreignKeys.around(() -> executeAll(with));
    }

    private StatementResult executeAll(WithChanges with) {
        Transaction transaction = transactions.current().orElseThrow();
        Map<String, Batch> returned = new LinkedHashMap<>();
        StatementResult result;
        transaction.seeNoMore();
        try {
            for (WithChanges.Part part : with.parts()) {
                rows(execute.apply(part.change())).ifPresent(rows -> {
                    returned.put(part.rows(), rows);
                    queries.putAtHand(part.rows(), rows);
                });
            }
            StatementResult last = execute.apply(with.main());
            result = last instanceof StatementResult.Rows rows ? FixedRows.of(queries.whole(rows)) : last;
        } finally {
            transaction.seeAll();
            queries.forgetAtHand();
            Closing.all(returned.values());
        }
        return result;
    }

    private Optional<Batch> rows(StatementResult result) {
        if (result instanceof StatementResult.Rows rows) {
            return Optional.of(queries.whole(rows));
        }
        result.close();
        return Optional.empty();
    }
}
