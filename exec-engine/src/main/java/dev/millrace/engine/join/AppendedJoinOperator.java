package dev.millrace.engine.join;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Memory;
import dev.millrace.engine.calc.Gather;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupEntries;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.PackedCodec;
import dev.millrace.engine.state.StateMemory;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Retelling;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.type.Schema;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * An INNER join that keeps all rows, in as little as they need as long as none is taken back: of each a pointer to the next
 * one of its key and the packed values. With the first weight that is not 1 a {@link JoinOperator} takes over what there is,
 * and so it does when rows meet many that a residual condition with ranges turns away, which it would not look at.
 *
 * <pre>
 *   entry: hash | link | keys | last left row | last right row, 0 for none
 *   row:   the one before of its side and key, or 0 | bytes of a PackedCodec
 * </pre>
 */
public final class AppendedJoinOperator implements Retelling {
    private static final String STATE = "appended";
    private static final String GENERAL_STATE = "rows";
    private static final int HEADER = 8;

    /** Pairs that are turned away, per row and per pair that is not, that are worth an order of the rows. */
    private static final int MANY_IN_VAIN = 64;

    private final Join node;
    private final List<AutoCloseable> owned = new ArrayList<>();
    private OperatorContext context;
    private KeyLayout keys;
    private GroupTable table;
    private StateMemory memory;
    private List<JoinSide> sides;
    private List<PackedCodec> codecs;
    private Optional<Residual> residual = Optional.empty();
    private Optional<JoinOperator> general = Optional.empty(); // since a row was taken back
    private Optional<JoinOperator> teller = Optional.empty(); // with the same rows, until it has told them again
    private long size;
    private final boolean hasRanges;
    private long passed; // pairs

    // Pairs that meet: rows of the batch at hand, and the other side's.
    private int[] ours;
    private long[] theirs;
    private int pairs;

    public AppendedJoinOperator(Join node) {
        this.node = node;
        this.hasRanges = node.residual()
                .filter(residual ->
                        RangeCondition.isIn(residual, node.left().schema().size()))
                .isPresent();
    }

    /** Whether this operator does for a node. */
    public static boolean suits(Join node) {
        return node.kind() == JoinKind.INNER && node.time().isEmpty();
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema left = node.left().schema();
        Schema right = node.right().schema();
        BufferAllocator allocator = context.allocator();
        keys = new KeyLayout(JoinSide.notNull(left), node.leftKeys());
        sides = List.of(
                own(new JoinSide(left, keys, node.leftKeys(), allocator)),
                own(new JoinSide(right, keys.over(node.rightKeys()), node.rightKeys(), allocator)));
        codecs = List.of(own(new PackedCodec(left, allocator)), own(new PackedCodec(right, allocator)));
        table = own(new GroupTable(allocator, new long[(keys.end() - GroupTable.BODY) / 8 + 2]));
        memory = own(new StateMemory(allocator));
        residual =
                node.residual().map(condition -> own(new Residual(condition, left, right, context.clock(), allocator)));
        int most = context.batchRows();
        ours = new int[most];
        theirs = new long[most];
    }

    private <T extends AutoCloseable> T own(T resource) {
        owned.add(resource);
        return resource;
    }

    private long last(long entry, int port) {
        return entry + keys.end() + 8L * port;
    }

    // ---- rows

    @Override
    public void process(int port, Batch batch, Output output) {
        tell(output, true);
        if (general.isEmpty() && !isOnce(batch)) {
            generalize();
        }
        if (general.isPresent()) {
            general.get().process(port, batch, output);
            return;
        }
        JoinSide side = sides.get(port);
        try (batch) {
            side.split(batch, Optional.empty(), false, NO_WATERMARK);
            if (side.groups() == 0) {
                return;
            }
            int[] rows = side.rows(0);
            int count = side.count(0);
            long[] entries = side.finder().find(table, batch, rows, count);
            for (int i = 0; i < count; i++) {
                for (long other = Memory.getLong(last(entries[i], 1 - port));
                        other != 0;
                        other = Memory.getLong(other)) {
                    ours[pairs] = rows[i];
                    theirs[pairs] = other + HEADER;
                    if (++pairs == ours.length) {
                        meet(port, batch, output);
                    }
                }
            }
            meet(port, batch, output);
            codecs.get(port).prepare(batch, rows, count);
            for (int i = 0; i < count; i++) {
                long row = codecs.get(port).store(i, memory, HEADER) - HEADER;
                long list = last(entries[i], port);
                Memory.putLong(row, Memory.getLong(list));
                Memory.putLong(list, row);
            }
            size += count;
        }
        if (hasRanges && evaluated() > MANY_IN_VAIN * (passed + size + 1_000)) {
            generalize();
        }
    }

    /** Pairs of rows for which the residual condition was evaluated so far. */
    long evaluated() {
        return residual.map(Residual::evaluated).orElse(0L)
                + general.map(JoinOperator::evaluated).orElse(0L);
    }

    private static boolean isOnce(Batch batch) {
        long weights = batch.weightsAddress();
        if (weights != 0) {
            for (int row = 0; row < batch.rowCount(); row++) {
                if (Memory.getLong(weights + 8L * row) != 1) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Emits the pairs that pass the residual condition. */
    private void meet(int port, Batch batch, Output output) {
        int count = pairs;
        pairs = 0;
        if (count > 0 && residual.isPresent()) {
            int found = count;
            Residual.Source our =
                    (column, field) -> Gather.column(batch, column, field, ours, found, context.allocator());
            Residual.Source their =
                    (column, field) -> codecs.get(1 - port).decode(column, field, theirs, found, context.allocator());
            count = residual.get().select(port == 0 ? our : their, port == 0 ? their : our, found);
            int[] selected = residual.get().selected();
            for (int i = 0; i < count; i++) {
                ours[i] = ours[selected[i]];
                theirs[i] = theirs[selected[i]];
            }
        }
        passed += count;
        if (count > 0) {
            output.emit(joined(port, batch, count));
        }
    }

    private Batch joined(int port, Batch batch, int count) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (int side = 0; side < 2; side++) {
                int first = vectors.size();
                if (side == port) {
                    for (int column = 0; column < codecs.get(port).columnCount(); column++) {
                        vectors.add(Gather.column(
                                batch, column, node.schema().field(first + column), ours, count, context.allocator()));
                    }
                } else {
                    codecs.get(side).decode(node.schema(), first, theirs, count, vectors, context.allocator());
                }
            }
            return Batch.of(node.schema(), vectors.toArray(FieldVector[]::new), count);
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    /** Hands all rows over to the operator that can take them back. */
    private void generalize() {
        general = Optional.of(general());
        List<AutoCloseable> unused = List.of(table, memory);
        owned.removeAll(unused);
        Closing.all(unused);
        size = 0;
    }

    private JoinOperator general() {
        JoinOperator operator = own(new JoinOperator(node));
        operator.open(context);
        StateMemory scratch = own(new StateMemory(context.allocator()));
        EntryCursor cursor = new EntryCursor(table, 1024);
        for (int count = cursor.advance(); count > 0; count = cursor.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = cursor.entries()[i];
                for (int port = 0; port < 2; port++) {
                    PackedCodec codec = codecs.get(port);
                    for (long row = Memory.getLong(last(entry, port)); row != 0; row = Memory.getLong(row)) {
                        scratch.reset();
                        long plain = codec.unpack(row + HEADER, scratch);
                        operator.adopt(port, entry, plain, codec.unpackedLength(row + HEADER));
                    }
                }
            }
        }
        owned.remove(scratch);
        scratch.close();
        return operator;
    }

    @Override
    public void retell() {
        teller = Optional.of(general.orElseGet(this::general));
        teller.get().retell();
    }

    private boolean tell(Output output, boolean atOnce) {
        if (teller.isEmpty() || !teller.get().tell(output, atOnce)) {
            return teller.isEmpty();
        }
        if (general.isEmpty()) {
            owned.remove(teller.get());
            teller.get().close();
        }
        teller = Optional.empty();
        return true;
    }

    // ---- signals

    @Override
    public boolean onWatermark(long watermarkMicros, Output output) {
        return general.isEmpty() || general.get().onWatermark(watermarkMicros, output);
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        if (!tell(output, false)) {
            return false;
        }
        if (general.isPresent()) {
            return general.get().onEpochEnd(epoch, output);
        }
        reportSize();
        return true;
    }

    private void reportSize() {
        long bytes = table.bytes()
                + memory.bytes()
                + codecs.get(0).bytes()
                + codecs.get(1).bytes();
        context.metrics().stateSize(bytes, size);
    }

    // ---- snapshots

    /** Per key group: the number of entries, then each one's keys and its rows, left and right. */
    @Override
    public void snapshot(StateWriter writer) {
        if (general.isPresent()) {
            general.get().snapshot(writer);
            return;
        }
        KeyGroupEntries entries = new KeyGroupEntries(table);
        try {
            for (int group = 0; group < KeyGroups.COUNT; group++) {
                if (entries.count(group) > 0) {
                    DataOutput out = writer.keyGroup(STATE, group);
                    out.writeInt(entries.count(group));
                    for (int i = 0; i < entries.count(group); i++) {
                        keys.write(entries.entry(group, i), out);
                        write(0, entries.entry(group, i), out);
                        write(1, entries.entry(group, i), out);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void write(int port, long entry, DataOutput out) throws IOException {
        PackedCodec codec = codecs.get(port);
        int count = 0;
        for (long row = Memory.getLong(last(entry, port)); row != 0; row = Memory.getLong(row)) {
            count++;
        }
        out.writeInt(count);
        for (long row = Memory.getLong(last(entry, port)); row != 0; row = Memory.getLong(row)) {
            long inlined = codec.inlined(row + HEADER);
            byte[] bytes = new byte[codec.length(inlined)];
            Memory.copyOut(inlined, bytes, 0, bytes.length);
            out.writeInt(bytes.length);
            out.write(bytes);
        }
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(STATE, (in, group) -> {
            try {
                for (int left = in.readInt(); left > 0; left--) {
                    long entry = keys.read(table, in);
                    read(0, entry, in);
                    read(1, entry, in);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        boolean[] isGeneral = new boolean[1];
        reader.keyGroups(GENERAL_STATE, (in, group) -> isGeneral[0] = true);
        if (isGeneral[0]) { // in one of the tasks whose state comes together here
            generalize();
            general.orElseThrow().restore(reader);
        } else {
            reportSize();
        }
    }

    private void read(int port, long entry, DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            long row = memory.allocate(HEADER + bytes.length);
            Memory.copyIn(bytes, 0, row + HEADER, bytes.length);
            Memory.putLong(row, Memory.getLong(last(entry, port)));
            Memory.putLong(last(entry, port), row);
            size++;
        }
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>(owned);
        owned.clear();
        Closing.all(all);
    }
}
