/**
 * Rows that are made by their number instead of by turn, so that any reader can make any part of a stream, and go on from any place.
 *
 * <p>Entry: {@link dev.millrace.connectors.random.NumberedRows} for the rows, {@link dev.millrace.connectors.random.Draws} for random
 * numbers.
 */
package dev.millrace.connectors.random;
