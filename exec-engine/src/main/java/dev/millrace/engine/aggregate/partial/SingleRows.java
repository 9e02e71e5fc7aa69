package dev.millrace.engine.aggregate.partial;

import static dev.millrace.plan.node.AggregateState.NONE;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout;
import dev.millrace.engine.aggregate.AggregateLayout.DistinctSet;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.aggregate.StateCode;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows as what a first phase would emit were each a group of its own: column by column, those of the input itself where
 * they can be. Much cheaper than a first phase, for keys that hardly ever come twice.
 */
public final class SingleRows {
    private final AggregateLayout layout;
    private final Schema schema;
    private final BufferAllocator allocator;
    private final Map<Integer, byte[]> counted =
            new HashMap<>(); // per filter: 1 for the batch's rows that pass, else 0

    SingleRows(AggregateLayout layout, Schema schema, BufferAllocator allocator) {
        this.layout = layout;
        this.schema = schema;
        this.allocator = allocator;
    }

    /** Whether all states of a layout can be made so. */
    static boolean suits(AggregateLayout layout) {
        return !layout.retractions() && layout.states().stream().allMatch(SingleRows::suits);
    }

    private static boolean suits(StateSlot slot) {
        return slot.state().distinct()
                || switch (slot.state().kind()) {
                    case COUNT, TRUES, SUM_LONG, SUM_WIDE, SUM_CARRIED, SUM_DOUBLE -> true;
                    case MIN, MAX -> slot.state().filter() == NONE;
                    case SUM_BIGNUM,
                            SQUARES_BIGNUM,
                            SUM_DOUBLE_RETRACTABLE,
                            SQUARES_WIDE,
                            SQUARES_DOUBLE,
                            SUM_INTERVAL -> false;
                };
    }

    /** The rows of a batch without weights, which stays the caller's. */
    Batch of(Batch batch) {
        int rows = batch.rowCount();
        counted.clear();
        List<FieldVector> columns = new ArrayList<>();
        List<AutoCloseable> owned = new ArrayList<>();
        boolean done = false;
        try {
            for (KeyLayout.Key key : layout.keys().keys()) {
                columns.add(batch.column(key.column()));
            }
            for (StateSlot slot : layout.states()) {
                if (slot.isExtreme()) {
                    columns.add(batch.column(slot.state().argument()));
                } else if (!slot.state().distinct()) {
                    for (int part = 0; part < StateCode.columns(slot.state().kind()); part++) {
                        FieldVector made = state(slot, part, batch, schema.field(columns.size()));
                        columns.add(made);
                        owned.add(made);
                    }
                }
            }
            for (DistinctSet set : layout.distinctSets()) {
                columns.add(batch.column(set.argument()));
                FieldVector made = marks(set, batch, schema.field(columns.size()));
                columns.add(made);
                owned.add(made);
            }
            owned.add(batch.retain());
            done = true;
            return Batch.view(schema, columns.toArray(FieldVector[]::new), rows, Optional.empty(), owned);
        } finally {
            if (!done) {
                Closing.all(owned);
            }
        }
    }

    /** Which rows a filter lets pass, and whose argument, if there is one, is not NULL. */
    private byte[] counted(int filter, int argument, Batch batch) {
        int rows = batch.rowCount();
        byte[] passed = counted.computeIfAbsent(filter, any -> passed(filter, batch));
        long validity = argument == NONE ? 0 : batch.validityAddress(argument);
        if (validity == 0) {
            return passed;
        }
        byte[] both = new byte[rows];
        for (int row = 0; row < rows; row++) {
            both[row] = (byte) (passed[row] & bit(validity, row));
        }
        return both;
    }

    private static byte[] passed(int filter, Batch batch) {
        byte[] passed = new byte[batch.rowCount()];
        if (filter == NONE) {
            Arrays.fill(passed, (byte) 1);
            return passed;
        }
        long data = batch.dataAddress(filter);
        long validity = batch.validityAddress(filter);
        for (int row = 0; row < passed.length; row++) {
            passed[row] = (byte) (validity == 0 ? bit(data, row) : bit(data, row) & bit(validity, row));
        }
        return passed;
    }

    private static int bit(long bitmap, int row) {
        return Memory.getByte(bitmap + (row >>> 3)) >>> (row & 7) & 1;
    }

    private FieldVector state(StateSlot slot, int part, Batch batch, Field field) {
        int rows = batch.rowCount();
        int argument = slot.state().argument();
        byte[] counts = counted(slot.state().filter(), argument, batch);
        FieldVector vector = Vectors.allocate(field, rows, 0, allocator);
        long to = vector.getDataBufferAddress();
        long from = argument == NONE ? 0 : batch.dataAddress(argument);
        switch (slot.state().kind()) {
            case COUNT -> {
                for (int row = 0; row < rows; row++) {
                    Memory.putLong(to + 8L * row, counts[row]);
                }
            }
            case TRUES -> {
                for (int row = 0; row < rows; row++) {
                    Memory.putLong(to + 8L * row, counts[row] & bit(from, row));
                }
            }
            case SUM_LONG -> {
                int width = slot.argumentType().fixedWidth();
                for (int row = 0; row < rows; row++) {
                    Memory.putLong(to + 8L * row, -counts[row] & integer(from, row, width));
                }
            }
            case SUM_WIDE -> wide(slot.argumentType(), counts, from, to, rows);
            case SUM_CARRIED -> {
                if (part == 0) {
                    wide(slot.argumentType(), counts, from, to, rows);
                } else {
                    Memory.fill(to, 8L * rows, (byte) 0);
                }
            }
            case SUM_DOUBLE -> {
                for (int row = 0; row < rows; row++) {
                    boolean isThere = part == 0 && counts[row] != 0;
                    Memory.putDouble(to + 8L * row, isThere ? inexact(from, row, slot.argumentType()) : 0);
                }
            }
            default -> throw new IllegalArgumentException(slot + " is no state of single rows");
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }

    private static long integer(long from, int row, int width) {
        return switch (width) {
            case 2 -> Memory.getShort(from + 2L * row);
            case 4 -> Memory.getInt(from + 4L * row);
            default -> Memory.getLong(from + 8L * row);
        };
    }

    private static double inexact(long from, int row, DataType type) {
        return type.kind() == DataType.Kind.REAL ? Memory.getFloat(from + 4L * row) : Memory.getDouble(from + 8L * row);
    }

    private static void wide(DataType type, byte[] counts, long from, long to, int rows) {
        boolean isNumeric = type.kind() == DataType.Kind.NUMERIC;
        for (int row = 0; row < rows; row++) {
            long mask = -counts[row];
            long low = Memory.getLong(from + (isNumeric ? 16L : 8L) * row);
            long high = isNumeric ? Memory.getLong(from + 16L * row + 8) : low >> 63;
            Memory.putLong(to + 16L * row, mask & low);
            Memory.putLong(to + 16L * row + 8, mask & high);
        }
    }

    private FieldVector marks(DistinctSet set, Batch batch, Field field) {
        int rows = batch.rowCount();
        FieldVector vector = Vectors.allocate(field, rows, 0, allocator);
        long to = vector.getDataBufferAddress();
        for (int filter = 0; filter < set.filters().size(); filter++) {
            byte[] counts = counted(set.filters().get(filter), set.argument(), batch);
            for (int row = 0; row < rows; row++) {
                int before = filter == 0 ? 0 : Memory.getShort(to + 2L * row);
                Memory.putShort(to + 2L * row, (short) (before | counts[row] << filter));
            }
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }
}
