/**
 * Window functions (OVER): each partition keeps its rows in order, each row with the results that were emitted for it; an
 * epoch's changes recompute the rows whose frames they touch, and only what differs is emitted. Where rows are only added
 * in event time, they can wait for the watermark instead and are emitted once.
 *
 * <pre>
 *   PartitionState   rows in order, off-heap          Reach        which rows a change touches
 *   FrameCursor      where a row's frame is           *Calls       results of consecutive rows, a kind of function each
 * </pre>
 *
 * <p>Entry: {@link dev.millrace.engine.over.OverOperator}. Aggregates are those of {@code engine.aggregate}, added and
 * retracted as the frame slides.
 */
package dev.millrace.engine.over;
