package dev.millrace.server.copy;

/** Finds rows and fields in bytes, and gives them to a {@link CopyInput}. */
interface RowScanner extends AutoCloseable {
    /**
     * Reads the whole rows that are there.
     *
     * @param last whether these are the last bytes
     * @return how many bytes it is done with; the rest is given again, with more behind it
     */
    int scan(long address, int length, boolean last);

    /** Whether a row that did not end before may end in these bytes; false spares looking at all that came before once more. */
    boolean mayEnd(long address, int length);

    @Override
    void close();
}
