/**
 * Entries of tables as they were at one moment, written while rows change them: all, or those that changed since another moment.
 *
 * <p>Entry: {@link dev.millrace.engine.state.frozen.ChangedEntries}. Of the thread that the table is of.
 */
package dev.millrace.engine.state.frozen;
