/**
 * A query's sinks, and threads of their own for those that may wait for the outside.
 *
 * <p>Entry: {@link dev.millrace.engine.sink.QuerySinks}, {@link dev.millrace.engine.sink.SinkQueue}, {@link
 * dev.millrace.engine.sink.SinkCheckpoint}. The queue is safe on any
 * thread. Knows neither plans nor epochs' domains.
 */
package dev.millrace.engine.sink;
