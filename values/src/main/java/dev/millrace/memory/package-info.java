/**
 * Raw memory: reads and writes at addresses, and the pool that Arrow's buffers come from.
 *
 * <p>Entry: {@link dev.millrace.memory.Memory}, which per-row code calls over addresses taken once per batch; {@link
 * dev.millrace.memory.ByteReader} for bytes that somebody else sent; {@link dev.millrace.memory.PooledAllocation} for
 * allocators. Tests hold every access to what is allocated ({@link dev.millrace.memory.CheckedMemory}). It knows addresses
 * and lengths, neither values nor columns.
 */
package dev.millrace.memory;
