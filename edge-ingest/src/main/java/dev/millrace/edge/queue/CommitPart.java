package dev.millrace.edge.queue;

/** What a commit is made of. */
sealed interface CommitPart {
    /** A record; in the place of those that have its numbers. */
    record Rows(String stream, QueueRecord record, byte[] bytes) implements CommitPart {}

    /** Bins that segments of a stream refer to, as an announcement. */
    record Version(String stream, long incarnation, int number, byte[] bytes) implements CommitPart {}

    /** The open segment of a key; without bytes it has none any more. */
    record Open(String stream, String key, byte[] bytes) implements CommitPart {}

    /** The open groups of a program's windows; without bytes it has none any more. */
    record Groups(String stream, String program, byte[] bytes) implements CommitPart {}

    /** Up to where an input was read. */
    record Place(String stream, String text) implements CommitPart {}

    /**
     * How a stream is.
     *
     * @param next number that the next record gets
     * @param acknowledged up to which the server has all
     * @param doubt up to which it may have been sent
     */
    record Stream(String stream, long next, long acknowledged, long doubt, Shedding shedding) implements CommitPart {}

    /** What became of records up to the place. */
    record Counts(String stream, TakenCounts counts) implements CommitPart {}

    /** What the server has set, and the number of that. */
    record Settings(String stream, long number, String text) implements CommitPart {}
}
