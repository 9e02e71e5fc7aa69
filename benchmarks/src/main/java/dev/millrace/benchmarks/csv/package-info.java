/** How fast files are read. Entry: {@link dev.millrace.benchmarks.csv.CsvCommand}, {@code ./millrace bench csv}. */
package dev.millrace.benchmarks.csv;
