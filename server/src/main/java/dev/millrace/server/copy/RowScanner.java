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

    @Override
    void close();
}
