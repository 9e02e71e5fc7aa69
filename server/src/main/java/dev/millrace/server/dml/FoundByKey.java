package dev.millrace.server.dml;

import dev.millrace.server.lookup.GivenValues;
import dev.millrace.server.lookup.KeyPlan;
import dev.millrace.server.lookup.KeyQuery;
import dev.millrace.server.lookup.PreparedLookupRows;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.sql.statement.Query;
import java.util.Optional;

/** Rows that are found by their key, for any values of the key: those of an UPDATE or DELETE. */
final class FoundByKey implements PreparedLookupRows {
    private final Queries queries;
    private final KeyQuery query;

    FoundByKey(Queries queries, KeyPlan plan) {
        this.queries = queries;
        this.query = new KeyQuery(plan);
    }

    @Override
    public Optional<StatementResult.Rows> rows(Query asked, GivenValues values) {
        Optional<Transaction> own = queries.prepareToReadByKey(asked);
        return queries.keys().find(query, values)
                ? queries.keys().rows(query, asked.schema(), values, own)
                : Optional.empty();
    }

    @Override
    public void close() {
        query.close();
    }
}
