/**
 * Values of records that are packed, whatever their format.
 *
 * <p>Entry: {@link dev.millrace.connectors.compression.CompressedFormatFactory}, which is another format's with the option {@code compression}.
 * What is unpacked is bounded; more of it is a rejected record.
 */
package dev.millrace.connectors.compression;
