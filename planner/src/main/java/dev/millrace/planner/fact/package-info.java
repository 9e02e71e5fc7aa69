/**
 * What is known of relations and of the rows that flow out of a plan's nodes.
 *
 * <p>Entry: {@link dev.millrace.planner.fact.Inference} derives {@link dev.millrace.planner.fact.Facts} bottom-up: may
 * rows be retracted, which columns does the watermark speak of, which columns are the bounds of windows that close.
 * These facts, and nothing else, decide whether a query may emit once or must emit changes.
 */
package dev.millrace.planner.fact;
