/** What it costs to keep things: the write-ahead log alone, without a database. Entry: {@code LogCommand}. */
package dev.millrace.benchmarks.storage;
