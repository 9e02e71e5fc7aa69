/**
 * Byte-bounded queues between tasks, with rows and signals in one order.
 *
 * <p>Entry: {@link dev.millrace.engine.channel.Channel}. Safe on any thread.
 */
package dev.millrace.engine.channel;
