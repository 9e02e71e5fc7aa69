package dev.millrace.engine.topn;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Owned;
import dev.millrace.engine.aggregate.KeyFinder;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.state.EntryCursor;
import dev.millrace.engine.state.Forgetful;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyGroupPart;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.Rows;
import dev.millrace.engine.state.TouchedGroups;
import dev.millrace.memory.Memory;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.operator.Replay;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import dev.millrace.plan.node.PlanNode.TopN;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.Arrays;

/**
 * The first rows of each partition, kept up to date: at an epoch's end the partitions it touched are ranked anew, and
 * what differs from what was emitted before is emitted.
 */
public final class TopNOperator implements Replay, Forgetful {

    private final TopN node;
    private final Owned owned = new Owned();
    private final int[] columns;
    private OperatorContext context;
    private RankedPartitions partitions;
    private KeyFinder finder;
    private RowCodec codec;
    private Ranking ranking;
    private RankedRows changes; // of the epoch that ends
    private final TouchedGroups touched = new TouchedGroups();

    public TopNOperator(TopN node) {
        this.node = node;
        this.columns = new int[node.input().schema().size()];
        Arrays.setAll(columns, column -> column);
    }

    @Override
    public void open(OperatorContext newContext) {
        context = newContext;
        Schema input = node.input().schema();
        KeyLayout keys = new KeyLayout(input, node.partition());
        codec = owned.own(new RowCodec(input.fields().stream().map(Field::type).toList(), false, context.allocator()));
        finder = owned.own(new KeyFinder(input, keys, context.allocator()));
        partitions = owned.own(new RankedPartitions(keys, context.allocator()));
        ranking = new Ranking(node, codec);
        changes = owned.own(new RankedRows(node, codec, context.batchRows(), context.allocator()));
    }

    @Override
    public void process(int port, Batch batch, Output output) {
        try (batch) {
            int count = batch.rowCount();
            long[] entries = partitions.add(batch, Rows.all(count), count, finder, codec, columns);
            for (int i = 0; i < count; i++) {
                touched.add(entries[i]);
            }
        }
        reportSize();
    }

    @Override
    public void forget(long like) {
        long entry = partitions.find(like);
        if (entry >= 0) {
            partitions.rows().clear(partitions.rowList(entry));
            touched.add(entry);
        }
    }

    @Override
    public boolean onEpochEnd(long epoch, Output output) {
        for (int i = 0; i < touched.count(); i++) {
            update(touched.get(i));
        }
        touched.truncate(0);
        if (!changes.emit(output)) {
            return false;
        }
        reportSize();
        return true;
    }

    /** Ranks a partition and notes how that differs from what was emitted. */
    private void update(long entry) {
        Memory.putLong(entry + GroupTable.LINK, 0);
        long emittedList = partitions.emittedList(entry);
        changes.takeBack(partitions.emitted(), emittedList);
        ranking.rank(partitions.rowList(entry));
        for (int i = 0; i < ranking.count(); i++) {
            long row = ranking.row(i);
            changes.add(
                    row, RowTable.length(row), ranking.rankOf(i), ranking.weight(i), partitions.emitted(), emittedList);
        }
        if (RowTable.first(partitions.rowList(entry)) == 0) {
            partitions.remove(entry);
        }
    }

    private void reportSize() {
        context.metrics().stateSize(partitions.bytes(), partitions.rows().size());
    }

    @Override
    public void snapshot(StateWriter writer) throws IOException {
        KeyGroupPart.of(partitions.table(), partitions::write).write(writer, StateFormats.RANKED);
    }

    @Override
    public void restore(StateReader reader) {
        reader.keyGroups(StateFormats.RANKED, (in, group) -> {
            partitions.read(in);
        });
        reportSize();
    }

    @Override
    public void replay() {
        EntryCursor all = new EntryCursor(partitions.table(), 256);
        for (int count = all.advance(); count > 0; count = all.advance()) {
            for (int i = 0; i < count; i++) {
                long entry = all.entries()[i];
                partitions.emitted().clear(partitions.emittedList(entry));
                touched.add(entry);
            }
        }
    }

    @Override
    public void close() {
        owned.close();
    }
}
