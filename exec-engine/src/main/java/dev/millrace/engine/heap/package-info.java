/**
 * The Java heap that queries share: what each may grow by is set aside, and the greediest gives way when the heap is nearly
 * full all the same.
 *
 * <p>Entry: {@link dev.millrace.engine.heap.HeapBudget}, {@link dev.millrace.engine.heap.HeapRelief}. Safe on any thread; the
 * relief has one of its own. Rows and state are elsewhere, in memory that allocators account for.
 */
package dev.millrace.engine.heap;
