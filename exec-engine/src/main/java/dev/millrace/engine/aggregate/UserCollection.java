package dev.millrace.engine.aggregate;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
import dev.millrace.engine.heap.CountedHeap;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.kernel.RowFailures;
import dev.millrace.expressions.user.UserAggregate;
import dev.millrace.expressions.user.VectorValues;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.type.Field;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * States of a user's aggregate, on the Java heap; a group has the number of its own, 0 for none, as one without rows.
 *
 * <p>Rows that are taken back wait until the state is asked for: within an epoch a row's -1 may come before its +1, which no
 * user should have to reckon with.
 */
final class UserCollection extends Collection {
    private static final int OBJECT_BYTES = 96; // of a state's entry, and of its own objects about
    private static final int WAITING_BYTES = 160; // of the entry of a row that waits
    private static final int SAMPLED = 1024; // rows from one look at a state's size to the next
    private static final double NEWEST = 1 / 16.0; // what a look counts among those before it

    /** The state of a group. */
    private static final class Gathered {
        private Object state;
        private long rows; // added less those that wait
        private final List<TakenBack> takenBack = new ArrayList<>(0);
        private Map<Arguments, Failed> failed = Map.of(); // rows that could not be added
        private Optional<MillraceException> broken = Optional.empty(); // what could not be taken back

        Gathered(Object state, long rows) {
            this.state = state;
            this.rows = rows;
        }
    }

    /** A row that is to be taken back, and about how much of the heap it takes meanwhile. */
    private record TakenBack(Object[] arguments, long bytes) {}

    /** A row that could not be added so often. */
    private record Failed(long times, long bytes) {}

    /** The values of a row, equal to those of another: lists are compared as arrays, since lists know no equal bytes. */
    private record Arguments(Object[] values, Object[] compared) {
        Arguments(Object[] values) {
            this(values, (Object[]) arrays(Arrays.asList(values)));
        }

        private static Object arrays(Object value) {
            return value instanceof List<?> list
                    ? list.stream().map(Arguments::arrays).toArray()
                    : value;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Arguments arguments && Arrays.deepEquals(compared, arguments.compared);
        }

        @Override
        public int hashCode() {
            return Arrays.deepHashCode(compared);
        }
    }

    private final AggregateCall call;
    private final boolean retractions;
    private final int offset;
    private final BufferAllocator allocator;
    private final UserAggregate function;
    private final VectorValues values;
    private final List<Gathered> groups = new ArrayList<>();
    private final Deque<Integer> unused = new ArrayDeque<>();
    private final CountedHeap heap;
    private long added;
    private long rows; // of all groups
    private double rowBytes; // of a state for each of its rows, of late
    private long mostStateBytes; // of the largest state looked at
    private long waitingBytes; // of rows that were taken back or could not be added

    UserCollection(AggregateLayout layout, Collected collected, BufferAllocator allocator) {
        this.call = layout.calls().get(collected.call());
        this.retractions = layout.retractions();
        this.offset = collected.offset();
        this.allocator = allocator;
        this.function = new UserAggregate(
                call.code().orElseThrow(),
                layout.arguments().type(call.arguments().get(0)));
        this.values = new VectorValues(allocator);
        this.heap = new CountedHeap(allocator);
    }

    @Override
    void add(Batch batch, NestedImages images, int[] rows, int count, long[] entries) {
        int column = call.arguments().get(0);
        long offsets = images.offsetsAddress(batch, column);
        long data = images.dataAddress(batch, column);
        long weights = batch.weightsAddress();
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (!CallFilter.passes(call, batch, row)) {
                continue;
            }
            long weight = weights == 0 ? 1 : Memory.getLong(weights + 8L * row);
            int begin = Memory.getInt(offsets + 4L * row);
            long image = data + begin;
            long bytes = waitingBytes(Memory.getInt(offsets + 4L * row + 4) - begin);
            Gathered gathered = gathered(entries[i]);
            gathered.rows += weight;
            this.rows += weight;
            for (long left = weight; left < 0; left++) {
                gathered.takenBack.add(new TakenBack(function.arguments(image), bytes));
                waitingBytes += bytes;
            }
            accumulate(gathered, image, weight, bytes);
        }
        heap.hold(bytes());
    }

    /** About what a row takes as objects, which has so many bytes as an image. */
    private static long waitingBytes(int imageBytes) {
        return WAITING_BYTES + 2L * imageBytes;
    }

    /** A row that fails waits, until it is taken back or can be added; where none is taken back it ends the query. */
    private void accumulate(Gathered gathered, long image, long weight, long bytes) {
        for (long left = weight; left > 0; left--) {
            try {
                gathered.state = function.accumulate(gathered.state, image);
            } catch (MillraceException failure) {
                if (!retractions || !RowFailures.isOfData(failure)) {
                    throw failure;
                }
                if (gathered.failed.isEmpty()) {
                    gathered.failed = new LinkedHashMap<>();
                }
                Arguments row = new Arguments(function.arguments(image));
                Failed before = gathered.failed.get(row);
                gathered.failed.put(row, new Failed(left + (before == null ? 0 : before.times), bytes));
                waitingBytes += before == null ? bytes : 0;
                return;
            }
            if (added++ % SAMPLED == 0) {
                lookAt(gathered);
            }
        }
    }

    /** States with many rows are looked at often, so that the mean for each row says what all of them take. */
    private void lookAt(Gathered gathered) {
        int bytes = function.write(gathered.state).length;
        double perRow = bytes / (double) Math.max(1, gathered.rows);
        rowBytes = added == 1 ? perRow : rowBytes + NEWEST * (perRow - rowBytes);
        mostStateBytes = Math.max(mostStateBytes, bytes);
    }

    private Gathered gathered(long entry) {
        int number = (int) Memory.getLong(entry + offset);
        return number != 0 ? groups.get(number - 1) : put(entry, new Gathered(function.create(), 0));
    }

    private Gathered put(long entry, Gathered gathered) {
        int number;
        if (unused.isEmpty()) {
            groups.add(gathered);
            number = groups.size();
        } else {
            number = unused.pop();
            groups.set(number - 1, gathered);
        }
        Memory.putLong(entry + offset, number);
        return gathered;
    }

    /** What is known of a group, up to date; empty if it has no rows. */
    private Optional<Gathered> settled(long entry) {
        int number = (int) Memory.getLong(entry + offset);
        if (number == 0) {
            return Optional.empty();
        }
        Gathered gathered = groups.get(number - 1);
        if (gathered.rows <= 0) {
            release(number);
            Memory.putLong(entry + offset, 0);
            return Optional.empty();
        }
        for (TakenBack row : gathered.takenBack) {
            takeBack(gathered, row.arguments);
            waitingBytes -= row.bytes;
        }
        gathered.takenBack.clear();
        return Optional.of(gathered);
    }

    private void takeBack(Gathered gathered, Object[] arguments) {
        if (!gathered.failed.isEmpty() && forgetFailed(gathered, new Arguments(arguments))) {
            return;
        }
        try {
            gathered.state = function.retract(gathered.state, arguments);
        } catch (MillraceException failure) {
            if (!RowFailures.isOfData(failure)) {
                throw failure;
            }
            gathered.broken = Optional.of(failure);
        }
    }

    private boolean forgetFailed(Gathered gathered, Arguments row) {
        Failed found = gathered.failed.get(row);
        if (found == null) {
            return false;
        }
        if (found.times > 1) {
            gathered.failed.put(row, new Failed(found.times - 1, found.bytes));
        } else {
            gathered.failed.remove(row);
            waitingBytes -= found.bytes;
        }
        return true;
    }

    /** Fails as long as rows could not be added or taken back. Those that could not be added are tried once more. */
    private void requireWhole(Gathered gathered) {
        gathered.broken.ifPresent(why -> {
            throw why.again();
        });
        while (!gathered.failed.isEmpty()) {
            Interrupt.checkCurrent();
            Arguments next = gathered.failed.keySet().iterator().next();
            gathered.state = function.accumulate(gathered.state, next.values().clone());
            forgetFailed(gathered, next);
        }
    }

    private void release(int number) {
        Gathered gone = groups.set(number - 1, new Gathered(number, 0));
        rows -= gone.rows;
        for (TakenBack row : gone.takenBack) {
            waitingBytes -= row.bytes;
        }
        for (Failed row : gone.failed.values()) {
            waitingBytes -= row.bytes;
        }
        unused.push(number);
    }

    /** A group that has no rows yet takes over a copy, for which the user's code need not be able to merge. */
    @Override
    void merge(Collection other, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            Optional<Gathered> part = ((UserCollection) other).settled(from[i]);
            if (part.isEmpty()) {
                continue;
            }
            requireWhole(part.get());
            Optional<Gathered> whole = settled(to[i]);
            whole.ifPresent(this::requireWhole);
            if (whole.isEmpty()) {
                put(to[i], new Gathered(function.copy(part.get().state), part.get().rows));
            } else {
                whole.get().state = function.merge(whole.get().state, part.get().state);
                whole.get().rows += part.get().rows;
            }
            rows += part.get().rows;
        }
        UserCollection given = (UserCollection) other;
        rowBytes = Math.max(rowBytes, given.rowBytes);
        mostStateBytes = Math.max(mostStateBytes, given.mostStateBytes);
        heap.hold(bytes());
    }

    @Override
    FieldVector results(Field field, long[] entries, int count) {
        FieldVector vector = ArrowTypes.arrowField(field).createVector(allocator);
        try {
            vector.setInitialCapacity(count);
            vector.allocateNew();
            for (int i = 0; i < count; i++) {
                Optional<Gathered> gathered = settled(entries[i]);
                gathered.ifPresent(this::requireWhole);
                Object state = gathered.isPresent() ? gathered.get().state : function.create();
                values.write(vector, call.type(), i, function.result(state));
            }
            heap.hold(bytes());
            vector.setValueCount(count);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    @Override
    void remove(long entry, StateMemory memory) {
        int number = (int) Memory.getLong(entry + offset);
        if (number != 0) {
            release(number);
        }
    }

    @Override
    void clear() {
        groups.clear();
        unused.clear();
        rows = 0;
        waitingBytes = 0;
        heap.hold(0);
    }

    @Override
    long bytes() {
        double states = Math.min(rowBytes * Math.max(0, rows), (double) mostStateBytes * groups.size());
        return OBJECT_BYTES * (long) groups.size() + (long) states + waitingBytes;
    }

    @Override
    void write(long entry, DataOutput out) throws IOException {
        Optional<Gathered> gathered = settled(entry);
        out.writeLong(gathered.isPresent() ? gathered.get().rows : 0);
        if (gathered.isPresent()) {
            requireWhole(gathered.get());
            byte[] bytes = function.write(gathered.get().state);
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }

    @Override
    void read(long entry, DataInput in) throws IOException {
        Memory.putLong(entry + offset, 0);
        long rows = in.readLong();
        if (rows > 0) {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            put(entry, new Gathered(function.read(bytes), rows));
            this.rows += rows;
            rowBytes = Math.max(rowBytes, bytes.length / (double) rows);
            mostStateBytes = Math.max(mostStateBytes, bytes.length);
            heap.hold(bytes());
        }
    }

    @Override
    public void close() {
        clear();
        heap.close();
        values.close();
    }
}
