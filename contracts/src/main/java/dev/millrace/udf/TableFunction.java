package dev.millrace.udf;

import java.util.function.Consumer;

/** Rows made of a row: called in FROM. */
@FunctionalInterface
public interface TableFunction {
    /**
     * Called for each row.
     *
     * @param arguments null for NULL; reused by the caller
     * @param rows takes each row made: a value per column of RETURNS TABLE
     * @throws Exception fails the query
     */
    void call(Object[] arguments, Consumer<Object[]> rows) throws Exception;
}
