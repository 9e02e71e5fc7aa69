/**
 * Entries of a table beyond what memory is for: on disk, where they are written in order and only read.
 *
 * <p>Entry: {@link dev.millrace.engine.state.cold.ColdEntries}. An entry is in its table, where it is found and changed as if there were
 * nothing else, or in a {@link dev.millrace.engine.state.cold.ColdRun}, from which it comes back when a key's hash is not found
 * in the table. {@link dev.millrace.engine.state.cold.FrozenRuns} is both as of one moment. Nothing here is safe for use by several threads at once.
 */
package dev.millrace.engine.state.cold;
