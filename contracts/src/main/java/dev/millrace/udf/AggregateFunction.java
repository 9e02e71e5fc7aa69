package dev.millrace.udf;

/**
 * A value of a group of rows. Three methods make one; two more are optional, and spare memory and work:
 *
 * <table>
 * <caption>What Millrace keeps of a group</caption>
 * <tr><td>rows are only added</td><td>the state, if it is {@link java.io.Serializable}</td></tr>
 * <tr><td>rows change or go, and there is {@link #retract}</td><td>the state, if it is {@code Serializable}</td></tr>
 * <tr><td>windows that overlap or merge (HOP, CUMULATE, SESSION), and there is {@link #merge}</td><td>the states of slices</td></tr>
 * <tr><td>all else, also DISTINCT, ORDER BY and OVER</td><td>the rows; the function goes over those of each group that changed</td></tr>
 * </table>
 *
 * The answer is the same either way, as long as the state does not depend on the order of rows: where it is kept, a row may be
 * added before one that is taken back is.
 *
 * @param <S> what gathers a group; of standard classes, or of classes in the function's jar
 */
public interface AggregateFunction<S> {
    /** An empty group. */
    S create();

    /**
     * Adds a row.
     *
     * @param arguments null for NULL; reused by the caller
     * @return the state with the row, which may be the one given
     * @throws Exception fails the group for as long as the row is there, where rows may go, else the query; the state given must
     *     be as it was
     */
    S accumulate(S state, Object[] arguments) throws Exception;

    /**
     * Takes back a row that was added. Optional: a class that does not override it is never asked. Of a group whose last row
     * went the state is forgotten, so that nothing of it remains by rounding.
     *
     * @param arguments as they were added; reused by the caller
     * @return the state without the row, which may be the one given
     * @throws Exception fails the group until all of its rows are gone
     */
    default S retract(S state, Object[] arguments) throws Exception {
        throw new UnsupportedOperationException("retract");
    }

    /**
     * Adds the rows of another state. Optional, as {@link #retract} is.
     *
     * @param other to be read only: it, and what is in it, must not become part of the result
     * @return the state with the rows of both, which may be the first one given
     * @throws Exception fails the query
     */
    default S merge(S state, S other) throws Exception {
        throw new UnsupportedOperationException("merge");
    }

    /**
     * The group's value. The state may have more rows added to it afterwards.
     *
     * @return null for NULL
     * @throws Exception fails the group until it has a result, where the query goes on; else the query
     */
    Object result(S state) throws Exception;
}
