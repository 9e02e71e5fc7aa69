/**
 * Parquet files, written and read without anything of Hadoop.
 *
 * <p>Entry: {@link dev.millrace.connectors.parquet.ParquetParts} to write, by Apache's library; {@link
 * dev.millrace.connectors.parquet.ParquetFormat} to read. What a file says of itself is read by the library's classes of the format, after it was
 * held to the bytes that are there; pages are decoded here, as the library's decoders take the lengths in them for granted. Nobody else knows the
 * library.
 *
 * <pre>
 *   ParquetFile: metadata -> ParquetReader: row groups -> RowAssembly: rows and arrays -> ColumnCursor: pages -> PageValues: one encoding
 * </pre>
 */
package dev.millrace.connectors.parquet;
