/**
 * The agent: streams, queue and link of one device, driven by one thread.
 *
 * <p>Entry: {@link dev.millrace.edge.agent.EdgeAgent}; {@link dev.millrace.edge.agent.EdgeProgram} is it as a program. Time, disk and network come in through
 * interfaces: tests drive it step by step in simulated time.
 */
package dev.millrace.edge.agent;
