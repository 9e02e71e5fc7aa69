/**
 * Real sensor data, with its dirt, against DuckDB reading the same files.
 *
 * <p>Entry: {@link dev.millrace.server.realdata.RealDataTest}. The data is not part of the repository: the folder is named
 * by {@code MILLRACE_DATA}, or is {@code ../shared/data}; without it the tests are skipped and say so.
 */
package dev.millrace.server.realdata;
