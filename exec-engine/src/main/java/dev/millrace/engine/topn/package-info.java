/**
 * The first rows of partitions, and ordered results of finite queries.
 *
 * <p>Entry: {@link dev.millrace.engine.topn.TopNOperator} for changing inputs,
 * {@link dev.millrace.engine.topn.FewBestOperator} for inputs that only grow,
 * {@link dev.millrace.engine.topn.WindowTopNOperator} per window, {@link dev.millrace.engine.topn.SortOperator} where all rows
 * are wanted.
 */
package dev.millrace.engine.topn;
