/**
 * Rows on disk: what tables and streams accept from clients is an entry of a log, written as it is accepted. What is behind the newest
 * checkpoint is accepted once more when a database is opened.
 *
 * <p>Entry: {@link dev.millrace.server.journal.RowJournal} is what the engine writes to; {@link
 * dev.millrace.server.journal.KeptRows} what a database that is opened reads. The log itself is {@code dev.millrace.storage.log},
 * in {@code DIR/rows} of the data directory; the form of rows is {@code dev.millrace.storage.batch}.
 *
 * <p><b>A record of the log</b> begins with a byte. Numbers are little endian.
 *
 * <pre>
 *   1: an entry: what was accepted together; all of it is in effect, or none
 *     4 bytes  how many parts there are, each of one relation:
 *       8 bytes  the number of its rows ({@code "rows"} in catalog.log): those of a number that nothing has any more are passed over; negated
 *                it is what the source of that stream remembers ({@code dev.millrace.server.intake}): rows of a name (text) and bytes
 *       8 bytes  0: what follows are changes; else (written by versions without checkpoints) they are all rows that the table has, in the place of all that the records up to
 *                this one have of it: what is between that record and this one comes after them
 *       4 bytes  how many counters (of identity and serial columns) its columns have, each as they were or later:
 *         4 bytes  the length of the column's name, then its name in UTF-8; 8 bytes the last value given
 *       4 bytes  how many batches, each:
 *         4 bytes  its length, then the batch: rows with weights, -1 for one that goes; or -1, then 8 bytes: the number of the
 *                  record that has it, before this one
 *   2: a batch of an entry that was long; in effect if there is an entry that says so
 *   3: as 1, but first 8 bytes: when it was accepted, microseconds since 1970; where rows of it are of streams that keep them
 * </pre>
 *
 * The log's records have checksums: a record whose form does not hold is an error of ours, and is reported as damage (XX001).
 */
package dev.millrace.server.journal;
