/**
 * Memory, hash tables and rows that stateful operators keep, all outside the Java heap.
 *
 * <p>Entry: {@link dev.millrace.engine.state.GroupTable} finds the entry of a key, {@link dev.millrace.engine.state.RowTable}
 * keeps weighted rows in lists, {@link dev.millrace.engine.state.RowCodec} turns columns into rows and back,
 * {@link dev.millrace.engine.state.PackedCodec} into smaller ones that are only read,
 * {@link dev.millrace.engine.state.Hashing} is the one definition of a key's hash and so of its key group. Nothing here is
 * safe for use by several threads at once. Addresses of entries and rows stay valid until these are removed.
 */
package dev.millrace.engine.state;
