/**
 * Checkpoints: all that an engine keeps, as of one moment, in sections of bytes.
 *
 * <p>Entry: {@link dev.millrace.engine.checkpoint.Barrier}, a checkpoint under way, and {@link
 * dev.millrace.engine.checkpoint.Barriers}, through which tasks find it. Tasks and publishers write from their own threads into
 * a {@link dev.millrace.engine.checkpoint.Spool}, which the thread that asked for the checkpoint empties into a {@link
 * dev.millrace.engine.checkpoint.CheckpointWriter}. What is in which section is said by those who write: {@code engine.runtime}
 * and {@code engine.relation}. No disk is known here.
 *
 * <p>Format of a section, version 1; numbers are big-endian:
 *
 * <pre>
 *   section = chunk* END
 *   chunk   = kind, 1 byte: 1 begins a part, 2 goes on with it | length, 4 bytes | so many bytes
 *   END     = kind 0
 *   part    = name, as DataOutput.writeUTF | version of what follows, 2 bytes | of a state: hash of what its operator is and reads,
 *             8 bytes | key group, 2 bytes, -1 for none | bytes
 * </pre>
 *
 * A section of states begins with a part {@code step}: the number of the checkpoint that it was written for, 8 bytes. It has none where
 * part {@code query} of section {@code engine} is of version 1 or 2.
 *
 * <p>A name and its group may come in several sections, and several times in one, each time with other entries. What holds the sections has checksums of its own; here only
 * what would mislead the reader is looked at: kinds, lengths, an end in the midst.
 */
package dev.millrace.engine.checkpoint;
