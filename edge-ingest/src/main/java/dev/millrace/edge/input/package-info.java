/**
 * Where rows are from: lines of bytes, taken as they come.
 *
 * <p>Entry: {@link dev.millrace.edge.input.EdgeInputs}. An input is polled by the agent's thread and waits for nothing there; what has to wait, as a
 * socket, has a thread of its own and a bounded queue of chunks, each of many lines. EdgeInputs know no format.
 */
package dev.millrace.edge.input;
