package dev.millrace.server.simulation;

import java.util.Map;
import java.util.Optional;

/**
 * A statement and what it does if it succeeds.
 *
 * @param input what COPY is given
 * @param change of rows
 * @param error the SQLSTATE that it must fail with
 * @param catalog what is defined then
 */
record HistoryStatement(
        String sql,
        Optional<String> input,
        ModelChange change,
        Optional<String> error,
        Optional<Map<String, ModelObject>> catalog) {

    static HistoryStatement change(String sql, ModelChange change) {
        return new HistoryStatement(sql, Optional.empty(), change, Optional.empty(), Optional.empty());
    }

    static HistoryStatement define(String sql, ModelChange change, Map<String, ModelObject> catalog) {
        return new HistoryStatement(sql, Optional.empty(), change, Optional.empty(), Optional.of(catalog));
    }

    HistoryStatement failing(String newError) {
        return new HistoryStatement(sql, input, ModelChange.NOTHING, Optional.of(newError), catalog);
    }

    HistoryStatement withInput(String text) {
        return new HistoryStatement(sql, Optional.of(text), change, error, catalog);
    }
}
