/**
 * Entries of tables as they were at one moment, written while rows change them.
 *
 * <p>Entry: {@link dev.millrace.engine.state.frozen.FrozenEntries}. Of the thread that the table is of.
 */
package dev.millrace.engine.state.frozen;
