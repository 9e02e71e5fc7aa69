package dev.millrace.udf;

/**
 * A value of a group of rows. Millrace keeps the group's rows, so an answer is right also over rows that change or go,
 * whether or not the function could take one back; the function is asked again for each group that changed.
 *
 * @param <S> what gathers a group
 */
public interface AggregateFunction<S> {
    /** An empty group. */
    S create();

    /**
     * Adds a row.
     *
     * @param arguments null for NULL; reused by the caller
     * @return the state with the row, which may be the one given
     * @throws Exception fails the query
     */
    S accumulate(S state, Object[] arguments) throws Exception;

    /**
     * The group's value.
     *
     * @return null for NULL
     * @throws Exception fails the query
     */
    Object result(S state) throws Exception;
}
