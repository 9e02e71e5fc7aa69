package dev.millrace.storage.simulation;

/** What a {@link SimulatedDisk} did to those who use it. */
public enum DiskFault {
    /** A write threw, part of it may be there. */
    WRITE_ERROR,
    /** A force threw, and gave up some of what was to be forced. */
    FORCE_ERROR,
    /** There was no room. */
    FULL,
    /** A force took long. */
    SLOW_FORCE,
    /** A call took long. */
    STALL,
    /** A read threw. */
    READ_ERROR,
    /** The process ended in the middle of a call. */
    KILL,
    /** A write that was not forced had gone after a crash. */
    LOST_WRITE,
    /** Only some sectors of a write that was not forced were there after a crash. */
    TORN_WRITE,
    /** A later write was there after a crash, and an earlier one to the same file was not. */
    REORDERED_WRITE,
    /** A name that was made, changed or removed and not forced was as before after a crash. */
    LOST_NAME
}
