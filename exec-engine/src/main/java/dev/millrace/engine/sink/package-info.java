/**
 * Sinks that may wait for the outside, called by threads of their own instead of workers.
 *
 * <p>Entry: {@link dev.millrace.engine.sink.SinkQueue}. Safe on any thread. Knows neither queries nor epochs' domains.
 */
package dev.millrace.engine.sink;
