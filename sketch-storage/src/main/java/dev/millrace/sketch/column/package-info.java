/**
 * One feature of a sketch in memory: its distinct symbols, and the sequence in which they occur.
 *
 * <p>Entry: {@link dev.millrace.sketch.column.Column}. Immutable to the reader and safe on any thread; sequences are
 * decoded when first asked for. It knows neither bytes nor queries.
 */
package dev.millrace.sketch.column;
