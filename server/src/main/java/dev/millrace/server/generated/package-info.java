/**
 * Columns of a stream that are computed from those its connector gives, as event time is from a date and a time of day.
 *
 * <p>Entry: {@link dev.millrace.server.generated.GeneratedColumns}, a source around the connector's. Its readers are used
 * as any reader is, by one thread at a time. Rows of INSERT and COPY are completed by the session, not here.
 */
package dev.millrace.server.generated;
