/**
 * JSON: one object per line or record, its members into columns by name.
 *
 * <p>Entry: {@link dev.millrace.connectors.json.JsonRecordFormatFactory}, for files and for
 * records of any transport. Records are found first, so that a damaged one costs itself alone; {@code QuickRecord} reads nearly all of
 * them straight from memory, {@code CarefulRecord} with Jackson's parser those that are wrong or odd, and values go straight into vectors.
 * Readers belong to one thread at a time, formats are immutable.
 */
package dev.millrace.connectors.json;
