/**
 * A fuzzer of bytes from outside: valid messages of every format that is read, of which lengths, counts, offsets, types and
 * nesting are damaged.
 *
 * <p>{@link dev.millrace.server.bytes.Layout} is a message with the places of its numbers; {@link
 * dev.millrace.server.bytes.BytesFuzz} is the program that damages them, in a JVM of its own where accesses to memory are
 * checked; {@link dev.millrace.server.bytes.BytesFuzzTest} starts it.
 */
package dev.millrace.server.bytes;
