/**
 * Values in PostgreSQL's text form: read from raw bytes, written to raw bytes, nothing allocated per value.
 *
 * <p>Entry: {@link dev.millrace.text.ValueParser} reads, {@link dev.millrace.text.ValueWriter} writes into a
 * {@link dev.millrace.text.TextBuffer}, {@link dev.millrace.text.TimestampFormat} reads dates and times of other shapes.
 * Parsers and buffers belong to one thread, formats are immutable. The package knows values, not vectors, files, messages
 * or expressions.
 */
package dev.millrace.text;
