/**
 * Parquet files, written by Apache's library without anything of Hadoop.
 *
 * <p>Entry: {@link dev.millrace.connectors.parquet.ParquetParts}. Nobody else knows the library.
 */
package dev.millrace.connectors.parquet;
