package dev.millrace.engine.state.cold;

import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.frozen.EntryWatch;
import dev.millrace.engine.state.frozen.FrozenEntries;
import dev.millrace.engine.state.frozen.Parts;
import dev.millrace.operator.FrozenState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateWriter;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A table and its runs as they were at one moment, written while entries move between them: those of the table first, then run by run in
 * the order in which they are on disk. What leaves the table before its turn, or a run before its, is written then:
 *
 * <pre>
 *   in the table at the moment   written by the scan, or before it changes or leaves ({@link FrozenEntries})
 *   in a run at the moment       written here from {@link ColdRun#dueFrom} on, or when it comes into the table before that
 *   in a run made since          not written: it came from the table
 * </pre>
 *
 * The table's thread.
 */
final class FrozenRuns implements FrozenState {
    private static final int STEP = 1 << 13; // entries that are written at a time

    private final EntryWatch table;
    private final Deque<ColdRun> left;
    private final Parts parts;
    private final ColdEntries.Writer writer;
    private boolean tableIsWritten;

    /**
     * @param table taken over
     * @param runs that were frozen; who closes one, or thaws it, says that nothing of it is to be written any more
     */
    FrozenRuns(EntryWatch table, List<ColdRun> runs, Parts parts, ColdEntries.Writer writer) {
        this.table = table;
        this.left = new ArrayDeque<>(runs);
        this.parts = parts;
        this.writer = writer;
    }

    @Override
    public boolean isWhole() {
        return table.isWhole();
    }

    @Override
    public boolean writeMore(StateWriter to) throws IOException {
        if (!tableIsWritten) {
            tableIsWritten = table.writeMore(to);
            dropWritten();
            return tableIsWritten && left.isEmpty();
        }
        dropWritten();
        if (!left.isEmpty()) {
            write(left.getFirst(), to);
            dropWritten();
        }
        table.writeEarlier(to, left.isEmpty());
        return left.isEmpty();
    }

    private void dropWritten() {
        while (!left.isEmpty() && !left.getFirst().isDue()) {
            left.removeFirst();
        }
    }

    private void write(ColdRun run, StateWriter to) throws IOException {
        int at = run.dueFrom();
        int end = Math.min(run.count(), at + STEP);
        while (at < end) {
            int group = KeyGroups.of(run.hash(at));
            int live = 0;
            int next = at;
            while (next < end && KeyGroups.of(run.hash(next)) == group) {
                live += run.isLive(next) && run.isDue(next) ? 1 : 0;
                next++;
            }
            if (live > 0) {
                DataOutput out = parts.begin(to, group);
                out.writeInt(live);
                for (int i = at; i < next; i++) {
                    if (run.isLive(i) && run.isDue(i)) {
                        writer.write(run.hash(i), run.body(i) - GroupTable.BODY, out);
                    }
                }
            }
            at = next;
        }
        run.written(end);
    }

    @Override
    public void close() {
        left.forEach(ColdRun::thaw);
        left.clear();
        tableIsWritten = true;
        table.close();
    }
}
