/**
 * Bytes at raw addresses: short copies, comparison and search.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.bytes.Bytes}, without state. The caller has proved the bounds. It knows
 * neither characters nor functions.
 */
package dev.millrace.expressions.function.bytes;
