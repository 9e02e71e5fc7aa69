/**
 * Partitioning: which instance of the next pipeline a row goes to (Neptune on Granules, ch. 3: partitioning schemes).
 *
 * <p>Entry: {@link dev.millrace.engine.exchange.Exchanges}. Used by one thread at a time.
 */
package dev.millrace.engine.exchange;
