package dev.millrace.server.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.Options;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceMemory;
import dev.millrace.edge.program.RowProgram;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What devices are told by a stream, in orders that only happen now and then: on one thread, with a memory that fails when it is to. */
class EdgeInletTest {
    private final BufferAllocator allocator = new RootAllocator();
    private final EdgeInlets inlets = new EdgeInlets();
    private final Memory memory = new Memory();
    private final List<Message.Set> told = new ArrayList<>();
    private final List<Long> acknowledged = new ArrayList<>();
    private Runnable whenOpened = () -> {};
    private EdgeInlet inlet;

    @BeforeEach
    void begin() {
        Schema declared = new Schema(List.of(
                new Field("ts", DataType.TIMESTAMP, true),
                new Field("temp", DataType.DOUBLE, true),
                new Field("k", DataType.INTEGER, true)));
        inlet = EdgeInlet.open(
                inlets,
                "plant",
                EdgeColumns.read(declared, new Options(Map.of())),
                1 << 20,
                Optional.empty(),
                new Context(memory));
    }

    @AfterEach
    void end() {
        inlet.close();
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    /** What a disk would have. */
    private static final class Memory implements SourceMemory {
        private final Map<String, byte[]> entries = new HashMap<>();
        private int failures; // of the changes to come

        @Override
        public Map<String, byte[]> entries() {
            return Map.copyOf(entries);
        }

        @Override
        public void change(MemoryChange change) {
            entries.putAll(change.put());
            entries.keySet().removeAll(change.removed());
            if (failures > 0) {
                failures--;
                throw MillraceException.external(SqlState.IO_ERROR, "nobody knows whether it is on disk");
            }
        }
    }

    private final class Context implements PushedContext {
        private final Memory memory;

        Context(Memory memory) {
            this.memory = memory;
        }

        @Override
        public String stream() {
            return "plant";
        }

        @Override
        public String database() {
            return "db";
        }

        @Override
        public boolean isDurable() {
            return true;
        }

        @Override
        public SourceMemory memory() {
            return memory;
        }

        @Override
        public BufferAllocator allocator() {
            return allocator;
        }

        @Override
        public Clock clock() {
            return Clock.system();
        }

        @Override
        public int batchRows() {
            return 1000;
        }

        @Override
        public void wakeUp() {}

        @Override
        public void reject(RejectedRecord rejected) {
            throw new AssertionError(rejected);
        }
    }

    private final class Session implements DeviceSession {
        @Override
        public String device() {
            return "press";
        }

        @Override
        public long identity() {
            return 1;
        }

        @Override
        public void opened(long acknowledged) {
            whenOpened.run();
        }

        @Override
        public void waitsFor(String what) {}

        @Override
        public void acknowledged(long upTo) {
            acknowledged.add(upTo);
        }

        @Override
        public void needVersions() {}

        @Override
        public void set(long number, String text) {
            told.add(new Message.Set(0, number, text));
        }

        @Override
        public void room() {}
    }

    private void pollAll() {
        for (int i = 0; i < 5; i++) {
            assertEquals(Optional.empty(), inlet.poll());
        }
    }

    private void needs(String query) {
        inlets.needs(query, Map.of("plant", new RowProgram(List.of("temp"), Optional.empty())));
    }

    private Message.Set last() {
        return told.get(told.size() - 1);
    }

    private static final Message.Open OPEN = new Message.Open(0, "plant", 0, Message.Open.WINDOWS);

    @Test
    void whatQueriesNeedIsToldAlsoWhenItChangesAmongWhatArrives() {
        inlets.set("plant", Optional.empty(), Map.of("rows", "queries"));
        whenOpened = () -> needs(
                "first"); // after this poll has looked at what queries need, and before it takes what arrived then
        inlet.offer(new Session(), OPEN);
        pollAll();
        assertTrue(last().text().contains("query.first="), () -> told.toString());
        assertEquals(last().number(), inlets.status().get(0).steering().number());
        needs("second");
        pollAll();
        assertTrue(last().text().contains("query.second="), () -> told.toString());
        inlets.needs("first", Map.of());
        pollAll();
        assertTrue(!last().text().contains("query.first="), () -> told.toString());
        long number = 0;
        for (Message.Set each : told) {
            assertTrue(each.number() >= number, () -> "numbers rise: " + told);
            number = each.number();
        }
    }

    @Test
    void whatMayHaveBeenKeptIsTold() {
        inlet.offer(new Session(), OPEN);
        memory.failures = 1;
        try {
            inlets.set("plant", Optional.empty(), Map.of("rows", "queries"));
            throw new AssertionError("it was kept");
        } catch (MillraceException e) {
            assertEquals(SqlState.IO_ERROR, e.sqlState());
        }
        pollAll();
        assertTrue(last().text().contains("rows=queries"), () -> told.toString());
        memory.failures = 1;
        needs("first");
        pollAll();
        assertTrue(last().text().contains("query.first="), () -> told.toString());
    }

    @Test
    void whatOnlyAQueryThatIsGoneHadNotOnDiskIsAcknowledged() {
        Schema columns = new Schema(List.of(
                new Field("window_start", DataType.TIMESTAMP, true),
                new Field("row_count", DataType.BIGINT, true),
                new Field("device", DataType.TEXT, true)));
        PartialsInlet query = PartialsInlet.open(
                inlets,
                "plant",
                new PartialsColumns(columns, WindowProgram.parse("(2 \"q\" (tumble 10 0 \"ts\") (keys))")),
                new Context(new Memory()));
        assertEquals(Optional.empty(), query.poll());
        Session session = new Session();
        inlet.offer(session, OPEN);
        pollAll();
        query.poll().orElseThrow().close();
        query.acknowledge(1);
        inlet.offer(session, new Message.Rows(0, 1, 1, RecordKind.PARTIALS, 3, 0, 0, new byte[0]));
        inlet.poll().orElseThrow().close();
        inlet.acknowledge(1);
        assertEquals(List.of(0L), acknowledged, "the query has it not on disk");
        query.dropped();
        query.close();
        pollAll();
        assertEquals(1, acknowledged.get(acknowledged.size() - 1));
    }
}
