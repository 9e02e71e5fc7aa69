/** How fast formats make rows of records: {@link dev.millrace.benchmarks.decode.DecodeCommand}. */
package dev.millrace.benchmarks.decode;
