package dev.millrace.edge.queue;

/** What a queue does when it is full. */
public enum WhenFull {
    /** Throws away what waits longest. */
    OLDEST,
    /** Throws away what is to come. */
    NEWEST,
    /** Merges what waits longest to a wider bound, as often as is allowed, and throws it away after that. */
    COARSER
}
