package dev.millrace.engine.exchange;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.channel.Channel;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.channel.Outlet;
import dev.millrace.engine.state.Hashing;
import dev.millrace.operator.KeyGroups;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.testing.rows.ZSet;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HashOutletTest {
    private static final Schema SCHEMA = Schema.of(
            new Field("long", DataType.BIGINT, false),
            new Field("int", DataType.INTEGER, true),
            new Field("text", DataType.TEXT, true),
            new Field("flag", DataType.BOOLEAN, true),
            new Field("short", DataType.SMALLINT, true),
            new Field("number", DataType.numeric(20, 2), true),
            new Field("list", DataType.array(DataType.BIGINT), true));

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    private static List<Row> rows(SplittableRandom random, int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(Row.of(
                    random.nextLong(50),
                    random.nextInt(5) == 0 ? null : random.nextInt(),
                    random.nextInt(5) == 0 ? null : "x".repeat(random.nextInt(40)) + i,
                    random.nextInt(5) == 0 ? null : random.nextBoolean(),
                    random.nextInt(5) == 0 ? null : random.nextInt(100),
                    random.nextInt(5) == 0 ? null : BigDecimal.valueOf(random.nextLong(100_000), 2),
                    random.nextInt(5) == 0 ? null : List.of(random.nextLong(9), 2L)));
        }
        return rows;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 5, 6})
    void eachRowGoesToTheOwnerOfItsKeyAndNoneIsLost(int key) {
        SplittableRandom random = new SplittableRandom(key);
        List<Channel> targets = List.of(
                new Channel(1 << 20, 0, Clock.system()),
                new Channel(1 << 20, 0, Clock.system()),
                new Channel(1 << 20, 0, Clock.system()));
        ZSet sent = new ZSet();
        try (Outlet outlet =
                Exchanges.outlet(new Distribution.Hash(List.of(key)), SCHEMA, targets, 64, memory.allocator())) {
            for (int i = 0; i < 20; i++) {
                List<Row> rows = rows(random, random.nextInt(1, 200));
                long[] weights =
                        rows.stream().mapToLong(row -> random.nextInt(1, 4)).toArray();
                Batch batch = i % 3 == 0
                        ? TestBatches.weighted(SCHEMA, memory.allocator(), rows, weights)
                        : TestBatches.of(SCHEMA, memory.allocator(), rows);
                sent.add(batch);
                outlet.rows(batch);
            }
            outlet.epochEnd(1);
        }
        ZSet received = new ZSet();
        for (int target = 0; target < targets.size(); target++) {
            received.addAll(receive(targets.get(target), target, key));
        }
        assertEquals("", sent.differences(received));
    }

    private ZSet receive(Channel channel, int target, int key) {
        ZSet received = new ZSet();
        boolean ended = false;
        for (Optional<Item> item = channel.poll(); item.isPresent(); item = channel.poll()) {
            if (item.get() instanceof Item.Rows rows) {
                try (Batch batch = rows.batch();
                        NestedImages nested = new NestedImages(memory.allocator())) {
                    assertTrue(batch.rowCount() <= 64 || batch.rowCount() > 0);
                    long[] hashes = new long[batch.rowCount()];
                    Hashing.hash(batch, new int[] {key}, batch.rowCount(), hashes, nested);
                    for (long hash : hashes) {
                        assertEquals(target, KeyGroups.owner(KeyGroups.of(hash), 3));
                    }
                    received.add(batch);
                }
            } else {
                ended |= item.get() instanceof Item.EpochEnd;
            }
        }
        assertTrue(ended);
        return received;
    }

    @Test
    void aWatermarkDoesNotOvertakeRows() {
        List<Channel> targets =
                List.of(new Channel(1 << 20, 0, Clock.system()), new Channel(1 << 20, 0, Clock.system()));
        try (Outlet outlet =
                Exchanges.outlet(new Distribution.Hash(List.of(0)), SCHEMA, targets, 64, memory.allocator())) {
            outlet.rows(TestBatches.of(SCHEMA, memory.allocator(), rows(new SplittableRandom(1), 30)));
            outlet.watermark(17);
            assertTrue(targets.get(0).isEmpty());
            outlet.flush();
        }
        for (Channel target : targets) {
            ((Item.Rows) target.poll().orElseThrow()).batch().close();
            assertEquals(new Item.Watermark(17), target.poll().orElseThrow());
            assertTrue(target.isEmpty());
        }
    }

    @Test
    void broadcastReachesAllAndRoundRobinEachInTurn() {
        for (Distribution distribution : List.of(new Distribution.Broadcast(), new Distribution.RoundRobin())) {
            List<Channel> targets =
                    List.of(new Channel(1 << 20, 0, Clock.system()), new Channel(1 << 20, 0, Clock.system()));
            int received = 0;
            try (Outlet outlet = Exchanges.outlet(distribution, SCHEMA, targets, 64, memory.allocator())) {
                for (int i = 0; i < 4; i++) {
                    outlet.rows(TestBatches.of(SCHEMA, memory.allocator(), rows(new SplittableRandom(i), 3)));
                }
            }
            for (Channel target : targets) {
                for (Optional<Item> item = target.poll(); item.isPresent(); item = target.poll()) {
                    ((Item.Rows) item.get()).batch().close();
                    received++;
                }
            }
            assertEquals(distribution instanceof Distribution.Broadcast ? 8 : 4, received);
        }
    }
}
