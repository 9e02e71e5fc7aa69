/**
 * Arrow IPC files and streams: columns by name, without a copy where the types are ours.
 *
 * <p>Entry: {@link dev.millrace.connectors.arrow.ArrowFormat}. Readers belong to one thread at a time, formats are
 * immutable. Compressed and dictionary-encoded files are not read.
 */
package dev.millrace.connectors.arrow;
