package dev.millrace.engine.over;

import dev.millrace.batch.Closing;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.Frame;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.type.Schema;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Aggregates of one frame that are computed from states which forget rows (sums, counts, variances): a row that enters the
 * frame is added, one that leaves it is retracted, and for each row a copy of the states is kept until all results of a run
 * of rows are computed together. The states of frames that begin with their partition are kept with it, so that what comes
 * last is added to what they hold.
 */
final class SlidingCalls implements Calls {
    private final int[] positions;
    private final Schema results;
    private final FrameCursor cursor;
    private final FrameStates frames;
    private final GroupState state; // those of the frames
    private final StateMemory images;
    private final OrderedRows rows;
    private final boolean running;
    private int[] takenAfter =
            new int[0]; // of each row asked for: events of the batch at hand before its copy is taken
    private long[] copies = new long[0];
    private int asked;
    private int taken;
    private long entry;
    private long words; // of the partition: its running states, and how many rows, the first ones, they hold
    private long groups; // made so far
    private int start; // the states hold the rows from ... to
    private int end;
    private boolean begun;

    /**
     * @param calls at these positions of the node, all over {@code frame}
     * @param results of all calls
     */
    SlidingCalls(
            List<AggregateCall> calls,
            int[] positions,
            Frame frame,
            Schema input,
            Schema results,
            OrderedRows rows,
            BufferAllocator allocator) {
        this.positions = positions;
        this.rows = rows;
        this.results = results;
        this.cursor = new FrameCursor(frame, rows);
        this.frames = new FrameStates(calls, true, input, rows, allocator);
        this.state = frames.states();
        this.images = new StateMemory(allocator);
        this.running = cursor.isRunning() && !cursor.excludes();
    }

    /** Whether a call is computed by this class. */
    static boolean computes(AggregateCall call) {
        return AggregateState.suffices(call, true) && !call.distinct();
    }

    @Override
    public void begin(int from) {
        cursor.reset();
        begun = false;
    }

    @Override
    public void select(long newWords) {
        words = newWords;
        if (running) {
            use(Memory.getLong(words));
        }
    }

    private void use(long group) {
        entry = group;
        frames.useGroup(entry);
    }

    /** Running states follow the rows they hold. */
    @Override
    public void changed(int index, long row, boolean came) {
        if (!running || entry == 0) {
            return;
        }
        long held = Memory.getLong(words + 8);
        if (index < held) {
            event(row, came ? 1 : -1);
            Memory.putLong(words + 8, held + (came ? 1 : -1));
        }
    }

    @Override
    public void endChanges() {
        flush();
    }

    @Override
    public void forget() {
        if (running && entry != 0) {
            state.removeAll(new long[] {entry}, 1);
            Memory.putLong(words, 0);
            Memory.putLong(words + 8, 0);
            entry = 0;
        }
    }

    private void restart() {
        begun = true;
        if (running) {
            if (entry == 0) {
                use(state.newGroup(++groups * 0x9E37_79B9_7F4A_7C15L));
                Memory.putLong(words, entry);
            }
            start = 0;
            end = (int) Memory.getLong(words + 8);
            while (end > cursor.end()) {
                event(rows.at(--end), -1);
            }
            return;
        }
        state.clear();
        use(state.newGroup(1));
        start = cursor.start();
        end = cursor.start();
    }

    @Override
    public void compute(int from, int to, FieldVector[] into) {
        int count = to - from;
        if (copies.length < count) {
            copies = new long[count];
            takenAfter = new int[count];
        }
        asked = 0;
        taken = 0;
        Interrupt interrupt = Interrupt.current();
        for (int row = from; row < to; row++) {
            interrupt.check(); // a frame may begin or end far from the last one
            cursor.move(row);
            if (!begun) {
                restart();
            }
            slide();
            if (cursor.excludes()) {
                exclude(true);
                take();
                exclude(false);
            } else {
                take();
            }
        }
        flush();
        if (running) {
            Memory.putLong(words + 8, end);
        }
        try {
            for (int call = 0; call < positions.length; call++) {
                into[positions[call]] = state.simpleResults(call, results.field(positions[call]), copies, count);
            }
        } finally {
            images.reset();
        }
    }

    private void slide() {
        while (end < cursor.end()) {
            event(rows.at(end++), 1);
        }
        while (start < cursor.start()) {
            event(rows.at(start++), -1);
        }
    }

    private void exclude(boolean goes) {
        for (int row = Math.max(cursor.firstPeer(), cursor.start());
                row < Math.min(cursor.endOfPeers(), cursor.end());
                row++) {
            if (cursor.isExcluded(row)) {
                event(rows.at(row), goes ? -1 : 1);
            }
        }
    }

    private void take() {
        takenAfter[asked++] = frames.count();
    }

    private void event(long row, int sign) {
        if (frames.isFull()) {
            flush();
        }
        frames.add(row, sign);
    }

    /** Gives the events to the states, and takes the copies asked for between them. */
    private void flush() {
        frames.flush(done -> {
            copyUpTo(done);
            return taken < asked ? takenAfter[taken] : Integer.MAX_VALUE;
        });
    }

    private void copyUpTo(int done) {
        while (taken < asked && takenAfter[taken] <= done) {
            copies[taken++] = state.copyStates(entry, images);
        }
    }

    @Override
    public int stillNeeded(int row) {
        return cursor.isRunning() ? 0 : cursor.start();
    }

    @Override
    public void close() {
        Closing.all(List.of(images, frames));
    }
}
