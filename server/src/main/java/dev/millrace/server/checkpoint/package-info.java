/**
 * Writes what a database keeps once more, so that the log of how it came to be can be forgotten.
 *
 * <p>Entry: {@link dev.millrace.server.checkpoint.DatabaseCheckpoint} does it, {@link dev.millrace.server.checkpoint.CheckpointThread} when
 * it is time to.
 */
package dev.millrace.server.checkpoint;
