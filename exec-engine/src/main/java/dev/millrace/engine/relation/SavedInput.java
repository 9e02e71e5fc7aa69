package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.WeightedRows;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * What waits at an input of a paused task, as bytes: of each item its kind, 1 byte; of rows how many, 4 bytes, and of each its weight,
 * 8 bytes, its length, 4, and itself; of a watermark its time, 8 bytes; END at last.
 */
public final class SavedInput {
    private static final int END = 0;
    private static final int ROWS = 1;
    private static final int WATERMARK = 2;
    private static final int IDLE = 3;

    private SavedInput() {}

    /**
     * The columns that all of what waits has: of a relation that got more meanwhile those that were there when the query began are among
     * them, as later ones come behind.
     */
    public static Schema written(List<Item> items, Schema relation) {
        int size = relation.size();
        for (Item item : items) {
            size = item instanceof Item.Rows rows ? Math.min(size, rows.batch().columnCount()) : size;
        }
        return columns(relation, size);
    }

    /** @param schema {@link #written} */
    public static void write(List<Item> items, Schema schema, BufferAllocator memory, DataOutput out)
            throws IOException {
        try (RowCodec codec = codec(schema, memory)) {
            for (Item item : items) {
                if (item instanceof Item.Rows rows) {
                    out.writeByte(ROWS);
                    write(rows.batch(), schema.size(), codec, out);
                } else if (item instanceof Item.Watermark watermark) {
                    out.writeByte(WATERMARK);
                    out.writeLong(watermark.micros());
                } else if (item instanceof Item.Idle) {
                    out.writeByte(IDLE);
                } else {
                    throw new IllegalStateException(item + " is not kept while a query is paused");
                }
            }
        }
        out.writeByte(END);
    }

    private static RowCodec codec(Schema schema, BufferAllocator memory) {
        return new RowCodec(schema.fields().stream().map(Field::type).toList(), false, memory);
    }

    private static void write(Batch batch, int size, RowCodec codec, DataOutput out) throws IOException {
        int count = batch.rowCount();
        int[] columns = new int[size];
        Arrays.setAll(columns, column -> column);
        codec.encode(batch, columns, Rows.all(count), count);
        long weights = batch.weightsAddress();
        out.writeInt(count);
        for (int i = 0; i < count; i++) {
            out.writeLong(weights == 0 ? 1 : Memory.getLong(weights + 8L * i));
            SectionOutput.writeBytes(codec.address(i), codec.length(i), out);
        }
    }

    /**
     * @param schema as it was written
     * @param memory of the rows, which are the caller's
     * @param mostBytes of them that there can be
     * @throws MillraceException XX001 for what cannot be
     */
    public static List<Item> read(DataInput in, Schema schema, BufferAllocator memory, long mostBytes)
            throws IOException {
        List<Item> items = new ArrayList<>();
        long left = mostBytes;
        try (RowCodec codec = codec(schema, memory)) {
            for (int kind = in.readByte(); kind != END; kind = in.readByte()) {
                if (kind == ROWS) {
                    Batch batch = readRows(in, schema, codec, memory, left);
                    items.add(new Item.Rows(batch));
                    left -= batch.sizeInBytes();
                } else if (kind == WATERMARK) {
                    items.add(new Item.Watermark(in.readLong()));
                } else if (kind == IDLE) {
                    items.add(Item.IDLE);
                } else {
                    throw damaged("an item of kind " + kind);
                }
            }
            return items;
        } catch (IOException | RuntimeException | Error e) {
            close(items);
            throw e;
        }
    }

    /** Lets go of the rows among them. */
    public static void close(List<Item> items) {
        Closing.all(items.stream()
                .filter(Item.Rows.class::isInstance)
                .map(item -> ((Item.Rows) item).batch())
                .toList());
    }

    private static Batch readRows(DataInput in, Schema schema, RowCodec codec, BufferAllocator memory, long mostBytes)
            throws IOException {
        int count = in.readInt();
        if (count < 0 || count > mostBytes / codec.fixedBytes()) {
            throw damaged(count + " rows");
        }
        long[] rows = new long[count];
        long[] weights = new long[count];
        List<FieldVector> vectors = new ArrayList<>();
        long left = mostBytes;
        try (StateMemory copies = new StateMemory(memory)) {
            for (int i = 0; i < count; i++) {
                weights[i] = in.readLong();
                int length = in.readInt();
                if (length < codec.fixedBytes() || length > left) {
                    throw damaged("a row of " + length + " bytes");
                }
                left -= length;
                byte[] row = new byte[length];
                in.readFully(row);
                rows[i] = copies.allocate(length);
                Memory.copyIn(row, 0, rows[i], length);
            }
            for (int column = 0; column < schema.size(); column++) {
                vectors.add(codec.decode(column, schema.field(column), rows, count, memory));
            }
            return WeightedRows.batch(schema, vectors.toArray(FieldVector[]::new), count, weights, 0, memory);
        } catch (IOException | RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /**
     * The columns that a relation had when there were so many: later ones come behind them.
     *
     * @throws MillraceException XX001 if it has fewer now
     */
    public static Schema columns(Schema relation, int size) {
        if (size < 0 || size > relation.size()) {
            throw damaged(size + " columns");
        }
        return relation.select(IntStream.range(0, size).boxed().toList());
    }

    private static MillraceException damaged(String what) {
        return MillraceException.external(
                SqlState.DATA_CORRUPTED, "among what waits for a paused query a checkpoint has " + what);
    }
}
