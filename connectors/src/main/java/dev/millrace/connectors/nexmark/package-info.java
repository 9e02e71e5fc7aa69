/**
 * The NEXMark suite's stream of people, auctions and bids, made up column by column.
 *
 * <p>Entry: {@link dev.millrace.connectors.nexmark.NexmarkSourceFactory}. Of every 50 events the first is a person, the
 * next three are auctions, the other 46 bids. Event {@code n} depends on {@code n} and the seed alone, so any number of
 * readers sees the same events, and a column that nobody asks for costs nothing. A benchmark shall measure the query and
 * not this package: values are written straight into buffers, without branches on random data.
 */
package dev.millrace.connectors.nexmark;
