/**
 * The 22 queries of TPC-H as materialized views over tables that change.
 *
 * <p>Entry: {@link dev.millrace.server.tpch.TpchTest}. The queries are text files in {@code src/test/resources/tpch}, with
 * the oracle's answers at the end of the first seed beside them.
 */
package dev.millrace.server.tpch;
