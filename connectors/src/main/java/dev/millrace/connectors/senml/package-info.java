/**
 * SenML (RFC 8428): packs of measurements as JSON, a row for each value.
 *
 * <p>Entry: {@link dev.millrace.connectors.senml.SenmlRecordFormatFactory}. A pack is read whole and its base fields resolved before a value of
 * it becomes a row, so that one that is wrong costs itself alone.
 */
package dev.millrace.connectors.senml;
