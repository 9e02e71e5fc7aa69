/**
 * A directory of files as storage needs it, so that tests can give it a disk that loses, tears and refuses.
 *
 * <p>Entry: {@link dev.millrace.storage.disk.Disk}; {@link dev.millrace.storage.disk.RealDisk} is the machine's. Every other
 * package of storage reaches files through it alone. All types may be used by several threads, as each says. Not a cache and not
 * a file format: what is written is what the caller gave.
 *
 * <p>{@link dev.millrace.storage.disk.SpillFiles} is apart: memory in mapped files, for state that is larger than memory. Nothing of it
 * outlives the process.
 *
 * <p>What a caller may rely on after the machine has stopped: bytes that were written before a
 * {@link dev.millrace.storage.disk.DiskFile#force} that returned are there; names that were made, changed or removed before a
 * {@link dev.millrace.storage.disk.Disk#forceNames} that returned are so. Of anything later, any part may be there: each sector of 512
 * bytes as it was before or after any of the writes to it, in whatever order they were. A force that failed has promised nothing, and one
 * that follows it and returns does not make up for it: the system may have given up what it could not write.
 */
package dev.millrace.storage.disk;
