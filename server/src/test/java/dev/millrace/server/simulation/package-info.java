/**
 * Simulated lives of a database: the server's real code on a simulated disk, with a simulated clock, on one thread.
 *
 * <p>Entry: {@link dev.millrace.server.simulation.HistoriesTest}; {@link dev.millrace.server.simulation.History} is one life,
 * {@link dev.millrace.server.simulation.HistoryModel} what it must come to, {@link dev.millrace.server.simulation.SimulatedHost} how all
 * of it comes to happen on the thread of the test. A seed decides everything: the statements, the order of the engine's steps, the faults of
 * the disk.
 *
 * <p>Not simulated: sockets and the wire protocols; two statements at the same time (a statement ends before the next one of another session
 * begins, transactions are open side by side); threads that race for a lock, and with them the group commit of several writers, which
 * {@code LogHistoriesTest} has. Planning ahead warms the JVM on a thread of its own, and touches nothing of a database.
 */
package dev.millrace.server.simulation;
