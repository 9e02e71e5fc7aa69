package dev.millrace.engine.state;

import dev.millrace.engine.checkpoint.SectionInput;
import java.io.DataInput;
import java.io.IOException;

/**
 * The entries of one key group on their way from a checkpoint into a table: put there many at a time, which waits less for memory,
 * with room for those that are likely to follow. One thread.
 */
public final class ReadEntries {
    private static final int TOGETHER = 512;

    private final GroupTable table;
    private final DataInput in;
    private final long bytesBefore;
    private final long[] entries = new long[TOGETHER];
    private int count;
    private long put;

    /** @param in where the entries come from, from their first byte on */
    public ReadEntries(GroupTable table, DataInput in) throws IOException {
        this.table = table;
        this.in = in;
        this.bytesBefore = SectionInput.bytesAhead(in);
    }

    /** Takes a {@link GroupTable#newEntry new entry}; nobody finds it before {@link #end}. */
    public void add(long entry) throws IOException {
        if (count == TOGETHER) {
            end();
        }
        entries[count++] = entry;
    }

    /** Has all be found that were taken. */
    public void end() throws IOException {
        long ahead = SectionInput.bytesAhead(in);
        long bytesOfEach = Math.max(1, (bytesBefore - ahead) / Math.max(1, put + count));
        table.putAll(entries, count, ahead / bytesOfEach);
        put += count;
        count = 0;
    }
}
