/**
 * Records that a transport has at hand, in memory from which formats decode them.
 *
 * <p>Entry: {@link dev.millrace.connectors.record.RecordMemory}.
 */
package dev.millrace.connectors.record;
