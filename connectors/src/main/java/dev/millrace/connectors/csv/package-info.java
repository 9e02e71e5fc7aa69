/**
 * Separated values straight from bytes into columns.
 *
 * <p>Entry: {@link dev.millrace.connectors.csv.CsvReader}. A block of bytes is read in two passes: the first finds the
 * ends of fields, eight bytes at a time ({@link dev.millrace.connectors.csv.CsvIndex}); the second goes through the index
 * column by column and parses each into its vector ({@link dev.millrace.connectors.csv.ColumnLoader}, from the texts that
 * {@link dev.millrace.connectors.csv.FieldText} finds), so that the code per value is a tight loop for one type. Readers
 * belong to one thread at a time; {@link dev.millrace.connectors.csv.CsvDialect} and columns are immutable.
 *
 * <p>{@link dev.millrace.connectors.csv.CsvInference} finds out how files are written, and their columns: {@link
 * dev.millrace.connectors.csv.CsvSniffer} judges the beginnings of {@link dev.millrace.connectors.csv.CsvSample}s, and a {@link
 * dev.millrace.connectors.csv.ColumnProfile} for each column holds every {@link dev.millrace.connectors.csv.PossibleReading} against its values.
 */
package dev.millrace.connectors.csv;
