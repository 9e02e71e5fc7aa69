/**
 * Parts of the Java heap that are set aside for what clients send and for what is made of it: messages, statements that are planned,
 * statements that are prepared. Who finds no room waits for it or is refused, before memory ends for everybody.
 *
 * <p>Entry: {@link dev.millrace.server.heap.HeapShares}. Safe on any thread, but for {@link dev.millrace.server.heap.KeptHeap}, which is
 * one session's. What queries hold is counted by {@link dev.millrace.engine.heap}.
 */
package dev.millrace.server.heap;
