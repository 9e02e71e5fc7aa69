package dev.millrace.benchmarks.templates;

/** Brings events of applications, {@code device, value, due}, to the streams that they have. Of one thread. */
interface EventFeed extends AutoCloseable {
    /** Columns of a stream that is fed so. */
    String COLUMNS = "device BIGINT, value DOUBLE PRECISION, due BIGINT";

    /** The statement that makes the stream of an application. */
    String definition(int application);

    /**
     * Sends events of an application.
     *
     * @param devices of the first {@code count} events
     * @param due nanoseconds of {@link System#nanoTime}
     */
    void send(int application, long[] devices, int count, long due);

    /** All that was sent is on its way. */
    void flush();

    @Override
    void close();
}
