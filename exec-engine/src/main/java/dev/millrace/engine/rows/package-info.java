/**
 * Picks rows out of batches: what exchanges, late rows and snapshots of them have in common.
 *
 * <p>Entry: {@link dev.millrace.engine.rows.RowBuffer}. Used by one thread at a time.
 */
package dev.millrace.engine.rows;
