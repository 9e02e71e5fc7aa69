/**
 * The contract of operators, and of what they are given and may ask for.
 *
 * <p>Entry: {@link dev.millrace.operator.Operator}. An operator knows nothing of threads, queues, sockets or disks, so
 * the same one is hosted by our tasks, by a test harness and, later, by another engine.
 */
package dev.millrace.operator;
