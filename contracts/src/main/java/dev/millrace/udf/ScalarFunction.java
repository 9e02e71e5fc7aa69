package dev.millrace.udf;

import org.jspecify.annotations.Nullable;

/** A value of a row. */
@FunctionalInterface
public interface ScalarFunction {
    /**
     * Called for each row.
     *
     * @param arguments null for NULL; reused by the caller
     * @return null for NULL
     * @throws Exception fails the query
     */
    @Nullable Object call(Object[] arguments) throws Exception;
}
