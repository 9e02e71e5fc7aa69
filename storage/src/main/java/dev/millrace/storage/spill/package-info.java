/**
 * Memory in files, for state that is larger than memory: {@link dev.millrace.storage.spill.SpillFiles}. Nothing of it outlives
 * the process, and no file has a format: a file's name is gone as soon as the file is mapped, so that the system gives its room back
 * when the process ends in whatever way.
 */
package dev.millrace.storage.spill;
