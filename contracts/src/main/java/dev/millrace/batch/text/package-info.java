/**
 * Rows of batches as text: single values, lines of separated values, JSON objects.
 *
 * <p>Entry: {@link dev.millrace.batch.text.VectorText} for one value of a vector, {@link dev.millrace.batch.text.CsvRows} and
 * {@link dev.millrace.batch.text.JsonRows} for rows, {@link dev.millrace.batch.text.ValueText} as the convenient form for
 * shells and tests. Stateless or immutable. How a value is written whose bytes are at hand, {@link dev.millrace.text} knows.
 */
package dev.millrace.batch.text;
