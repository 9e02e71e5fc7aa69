/**
 * From records of bytes to segments: one stream of a device.
 *
 * <p>Entry: {@link dev.millrace.edge.stream.EdgeStream}, which reads an input, has its format make columns of typed values of it, hands these to an
 * encoder for each key, and writes to the queue what became of it, all by one thread and in one step. Nothing here knows a network.
 */
package dev.millrace.edge.stream;
