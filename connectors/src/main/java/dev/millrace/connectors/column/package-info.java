/**
 * Columns of a batch under way, for formats whose values have types of their own: a decoder puts numbers, texts, times and nested values,
 * and they are converted to the column's type as an assignment in SQL would, or refused.
 *
 * <p>Entry: {@link dev.millrace.connectors.column.DecodedColumns}, commonly by way of {@link
 * dev.millrace.connectors.column.RecordwiseDecoder}. A row under way is put value by value, then kept or dropped: nothing of a dropped one
 * stays. Values of columns that nobody asked for are checked and forgotten. Owned by one thread. It knows no format and no transport.
 */
package dev.millrace.connectors.column;
