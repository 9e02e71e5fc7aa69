/**
 * The first rows of partitions.
 *
 * <p>Entry: {@link dev.millrace.engine.topn.TopNOperator} for changing inputs,
 * {@link dev.millrace.engine.topn.FewBestOperator} for inputs that only grow,
 * {@link dev.millrace.engine.topn.WindowTopNOperator} per window.
 */
package dev.millrace.engine.topn;
