/**
 * What queries changed, on disk before anybody is told, for subscribers that come again.
 *
 * <p>Entry: {@link dev.millrace.server.history.Histories}, which knows the histories of all queries that have a durable subscription.
 * A {@link dev.millrace.server.history.QueryHistory} has a thread, which takes epochs from the engine, has them written and shows them;
 * readers, {@link dev.millrace.server.history.HistoryReader}, are each used by one thread. It knows no sessions and no SQL.
 *
 * <h2>Files</h2>
 *
 * {@code changes/N}, N from 1 without gaps, is the log of one history, of {@link dev.millrace.storage.log}; empty if that was dropped, and
 * to be emptied if no subscription is in it. Its records are little-endian; texts have a length in bytes (4) before them:
 *
 * <pre>
 *   1 ROWS         a batch, see dev.millrace.storage.batch; counts with the EPOCH or BASE behind it that says so
 *   2 EPOCH        time (8), how many ROWS before it (4): what an epoch changed
 *   3 BASE         format (1), name of the query, hash of the types of its columns (4), time (8), time behind which all changes
 *                  are in the log (8), how many ROWS before it (4), the answer at that time;
 *                  how many subscriptions (4), and those, as below
 *   4 TOLD         time (8): no later one was told to anybody
 *   5 SUBSCRIPTION name, owner, limit in bytes (8), acknowledged time (8), why it is broken (empty if it is not)
 *   6 DROPPED      name of a subscription
 * </pre>
 *
 * Times are microseconds since 1970, and grow from epoch to epoch. The newest BASE counts; what is before it is there only for the changes
 * that are retained.
 */
package dev.millrace.server.history;
