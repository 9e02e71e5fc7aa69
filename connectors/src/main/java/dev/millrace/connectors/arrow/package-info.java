/**
 * Arrow IPC files and streams: columns by name, without a copy where the types are ours.
 *
 * <p>Entries: {@link dev.millrace.connectors.arrow.ArrowFormat} for files; for bytes and columns of others
 * {@link dev.millrace.connectors.arrow.ArrowStream}, {@link dev.millrace.connectors.arrow.ArrowContents} and
 * {@link dev.millrace.connectors.arrow.ArrowValues}, which hold lengths, offsets and values to what they may be before
 * anything is read by its address. Readers belong to one thread at a time, formats are immutable. Compressed and
 * dictionary-encoded columns are not read.
 */
package dev.millrace.connectors.arrow;
