/**
 * Statements that read: SELECT, FLUSH, SUBSCRIBE, and cursors over both.
 *
 * <p>Entry: {@link dev.millrace.server.query.Queries} for rows, {@link dev.millrace.server.query.KeyReads} for those that an
 * index has, {@link dev.millrace.server.query.Subscriptions} for changes, {@link dev.millrace.server.query.Cursors} for either
 * a part at a time. What may be read is asked of {@link dev.millrace.server.query.ReadChecks}, what is waited for of {@link
 * dev.millrace.server.query.OwnEpochs}. One session's, for its thread.
 */
package dev.millrace.server.query;
