/**
 * What formats of records share: options. Nothing here knows a format, and no format knows a transport.
 *
 * <p>Entry: {@link dev.millrace.connectors.format.TimeFormats}, which is immutable.
 */
package dev.millrace.connectors.format;
