package dev.millrace.connector;

/** What the database lends to the reader of a pushed source. Safe on any thread. */
public interface PushedContext extends SourceContext {
    /** The stream that is fed. */
    String stream();

    /**
     * A name that the database has alone, of some letters and digits: the same for as long as its directory lives. Without a directory
     * another one each time it is opened.
     */
    String database();

    /** Whether what is acknowledged outlives a crash. */
    boolean isDurable();

    /** What the source keeps beside the rows of this stream. */
    SourceMemory memory();
}
