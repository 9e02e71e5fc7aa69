/**
 * The Java functions that the suite {@code riotbench} registers with CREATE FUNCTION, as a user would: what RIoTBench
 * (Shukla, Chaturvedi, Simmhan, 2017) has as tasks and SQL has no words for.
 *
 * <p>Entry: the suite's {@code streams.sql}, which names the classes. They are packed into a jar of their own and use
 * nothing of Millrace but {@code dev.millrace.udf}.
 */
package dev.millrace.benchmarks.riotbench;
