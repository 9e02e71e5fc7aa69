/**
 * What it costs to keep things: without a database, the write-ahead log ({@code LogCommand}), and retained rows as columns ({@code
 * SegmentsCommand}); with one, state beyond memory ({@code SpillCommand}).
 */
package dev.millrace.benchmarks.storage;
