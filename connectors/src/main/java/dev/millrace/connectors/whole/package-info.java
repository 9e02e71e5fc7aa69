/**
 * Records that are one value each: bytes as they are, or a text.
 *
 * <p>Entry: {@link dev.millrace.connectors.whole.WholeRecordFormatFactory}.
 */
package dev.millrace.connectors.whole;
