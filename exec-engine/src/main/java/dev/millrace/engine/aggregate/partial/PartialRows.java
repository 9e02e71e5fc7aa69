package dev.millrace.engine.aggregate.partial;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.GroupState;
import dev.millrace.engine.aggregate.MarkedValues;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * The groups of a first phase as rows: keys, states, and a value of each distinct set. A group takes as many rows as its
 * largest set has values; only the first has its states, the others have those of no row at all.
 */
public final class PartialRows implements AutoCloseable {
    private final GroupState state;
    private final Schema schema;
    private final int mostRows;
    private final BufferAllocator allocator;
    private final List<MarkedValues> sets = new ArrayList<>();
    private final List<KeyLayout> values = new ArrayList<>(); // per set: a value as the one key of its entry
    private final ArrowBuf blanks;
    private final long noRows; // an entry of a group without rows
    private final long noValue; // an entry of a value, all zero

    // The groups under way.
    private EntryCursor cursor;
    private int group;
    private int groups;
    private int next; // row of the group
    private int rowsOfGroup;
    private final long[][] entriesById;
    private final int[][] seen; // per set: ids and marks of the group's values
    private final int[] seenCount;

    // The rows of a batch.
    private long[] owners;
    private long[] states;
    private final long[][] valueEntries;
    private final short[][] marks;

    PartialRows(GroupState state, Schema schema, int mostRows, BufferAllocator allocator) {
        this.state = state;
        this.schema = schema;
        this.mostRows = mostRows;
        this.allocator = allocator;
        state.distinct().forEach(values -> sets.add((MarkedValues) values));
        for (DistinctSet set : state.layout().distinctSets()) {
            values.add(KeyLayout.ofValue(set.type()));
        }
        long[] body = state.layout().initial();
        long entryBytes = GroupTable.BODY + 8L * body.length;
        this.blanks = allocator.buffer(entryBytes + GroupTable.BODY + SlotKind.BYTES.bytes() + Long.BYTES);
        this.noRows = blanks.memoryAddress();
        this.noValue = noRows + entryBytes;
        Memory.fill(noRows, blanks.capacity(), (byte) 0);
        for (int word = 0; word < body.length; word++) {
            Memory.putLong(noRows + GroupTable.BODY + 8L * word, body[word]);
        }
        this.entriesById = new long[sets.size()][];
        this.seen = new int[sets.size()][0];
        this.seenCount = new int[sets.size()];
        this.owners = new long[0];
        this.states = new long[0];
        this.valueEntries = new long[sets.size()][0];
        this.marks = new short[sets.size()][0];
        this.cursor = new EntryCursor(state.table(), 1);
    }

    /** Begins with the first group; before the state changes again all is to be taken. */
    void start() {
        cursor = new EntryCursor(
                state.table(), Math.min(mostRows, Math.max(1, state.table().size())));
        group = 0;
        groups = 0;
        next = 0;
        rowsOfGroup = 0;
        for (int set = 0; set < sets.size(); set++) {
            entriesById[set] = sets.get(set).entriesById();
        }
    }

    /** The next rows; empty at the end. */
    Optional<Batch> next() {
        int rows = 0;
        while (rows < mostRows && (next < rowsOfGroup || nextGroup())) {
            int count = Math.min(mostRows - rows, rowsOfGroup - next);
            makeRoom(rows + count);
            long owner = cursor.entries()[group - 1];
            Arrays.fill(owners, rows, rows + count, owner);
            Arrays.fill(states, rows, rows + count, noRows);
            if (next == 0) {
                states[rows] = owner;
            }
            for (int set = 0; set < sets.size(); set++) {
                takeValues(set, rows, count);
            }
            rows += count;
            next += count;
        }
        return rows == 0 ? Optional.empty() : Optional.of(batch(rows));
    }

    /** Most queries have few groups in an epoch. */
    private void makeRoom(int rows) {
        if (owners.length < rows) {
            int more = Math.min(mostRows, Math.max(64, 2 * rows));
            owners = Arrays.copyOf(owners, more);
            states = Arrays.copyOf(states, more);
            for (int set = 0; set < sets.size(); set++) {
                valueEntries[set] = Arrays.copyOf(valueEntries[set], more);
                marks[set] = Arrays.copyOf(marks[set], more);
            }
        }
    }

    private boolean nextGroup() {
        if (group == groups) {
            group = 0;
            groups = cursor.advance();
            if (groups == 0) {
                return false;
            }
        }
        long entry = cursor.entries()[group++];
        next = 0;
        rowsOfGroup = 1;
        for (int set = 0; set < sets.size(); set++) {
            long header = entry + state.layout().distinctSets().get(set).headerOffset();
            int size = MarkedSets.size(header);
            if (seen[set].length < size) {
                seen[set] = new int[Math.max(size, 2 * seen[set].length)];
            }
            seenCount[set] = MarkedSets.copy(header, seen[set]);
            rowsOfGroup = Math.max(rowsOfGroup, size);
        }
        return true;
    }

    private void takeValues(int set, int rows, int count) {
        int there = Math.max(0, Math.min(count, seenCount[set] - next));
        for (int i = 0; i < there; i++) {
            int word = seen[set][next + i];
            valueEntries[set][rows + i] = entriesById[set][word >>> MarkedSets.MARKS];
            marks[set][rows + i] = (short) (word & (1 << MarkedSets.MARKS) - 1);
        }
        Arrays.fill(valueEntries[set], rows + there, rows + count, noValue);
        Arrays.fill(marks[set], rows + there, rows + count, (short) 0);
    }

    private Batch batch(int rows) {
        List<FieldVector> vectors = new ArrayList<>();
        int keys = state.layout().keys().keys().size();
        try {
            for (int key = 0; key < keys; key++) {
                vectors.add(state.key(key, schema.field(key), owners, rows));
            }
            vectors.addAll(state.states(schema, keys, states, rows));
            for (int set = 0; set < sets.size(); set++) {
                Field value = schema.field(vectors.size());
                vectors.add(values.get(set).vector(0, value, valueEntries[set], rows, allocator));
                vectors.add(shorts(schema.field(vectors.size()), marks[set], rows));
            }
            return Batch.of(schema, vectors.toArray(FieldVector[]::new), rows);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private FieldVector shorts(Field field, short[] from, int rows) {
        FieldVector vector = Vectors.allocate(field, rows, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            Memory.putShort(data + 2L * row, from[row]);
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }

    @Override
    public void close() {
        blanks.close();
    }
}
