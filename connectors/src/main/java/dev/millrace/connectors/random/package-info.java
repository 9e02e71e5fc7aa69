/**
 * Random numbers by position instead of by turn, so that any reader can make any part of a stream.
 *
 * <p>Entry: {@link dev.millrace.connectors.random.Draws}.
 */
package dev.millrace.connectors.random;
