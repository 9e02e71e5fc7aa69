package dev.millrace.connectors.jdbc;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.connectors.outbox.Delivery;
import dev.millrace.connectors.outbox.OutboxSink;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.testing.connector.SinkLives;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The conformance suite catches deliveries to a database that have a fault: each of these is the real one, over a file of SQLite's, with one. */
class JdbcSinkMutantsTest {
    private static final int LIVES = 4;
    private static final int STEPS = 40;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    /** One that is another but for what is overridden. */
    private static class Same implements Delivery {
        final Delivery delivery;

        Same(Delivery delivery) {
            this.delivery = delivery;
        }

        @Override
        public long lastDelivered() {
            return delivery.lastDelivered();
        }

        @Override
        public void deliver(long number, Records records) {
            delivery.deliver(number, records);
        }

        @Override
        public void close() {
            delivery.close();
        }
    }

    private static final Delivery.Records NONE = new Delivery.Records() {
        @Override
        public long count() {
            return 0;
        }

        @Override
        public void forEach(Consumer<ByteBuffer> record) {}
    };

    private SinkOutside outside(int seed, UnaryOperator<Delivery> fault) {
        Outside file = new Outside(Dialect.SQLITE, "jdbc:sqlite:" + folder.resolve(seed + ".db"), "");
        file.run("CREATE TABLE t (id BIGINT, name VARCHAR(100))");
        return new SinkOutside() {
            @Override
            public CheckpointedSink open(SinkContext context) {
                TargetTable table = new TargetTable("t", SCHEMA, List.of());
                DatabaseAddress address = DatabaseAddress.read(new Options(Map.of("url", file.url())));
                Delivery delivery = new JdbcDelivery(new JdbcWriter(address, table, false, 100, false), "sink");
                return new OutboxSink(
                        context,
                        "t",
                        new SpooledChanges(new ChangeMaker(table, false, 1 << 20, context)),
                        fault.apply(delivery),
                        new Options(Map.of()));
            }

            @Override
            public List<Long> seen() {
                return file.rows("SELECT id FROM t").stream().map(Long::valueOf).toList();
            }
        };
    }

    private void lives(UnaryOperator<Delivery> fault, boolean isFaulty) {
        for (int seed = 1; seed <= LIVES; seed++) {
            Path home = folder.resolve("home " + seed);
            try (SinkLives lives = new SinkLives(
                            outside(seed, fault), new TestSinkContext(memory.allocator(), "d", home), seed)
                    .impatient(isFaulty)) {
                lives.live(STEPS);
            }
        }
    }

    private void isCaught(UnaryOperator<Delivery> fault) {
        Throwable caught = assertThrows(Throwable.class, () -> lives(fault, true));
        assertTrue( // by what is seen, or by the outbox that finds its number wrong
                caught instanceof AssertionError || caught instanceof MillraceException, caught::toString);
    }

    @Test
    void aDeliveryWithoutAFaultIsNot() {
        lives(Same::new, false);
    }

    @Test
    void oneThatAcknowledgesWhatItHasNotWrittenIsCaught() {
        isCaught(delivery -> new Same(delivery) {
            @Override
            public void deliver(long number, Records records) {
                // as if it had
            }
        });
    }

    @Test
    void oneThatSkipsACommitAndKeepsItsNumberIsCaught() {
        isCaught(delivery -> new Same(delivery) {
            private int count;

            @Override
            public void deliver(long number, Records records) {
                super.deliver(number, count++ % 3 == 1 ? NONE : records);
            }
        });
    }

    /** Rows are there, and the number beside them is that of a sink that nobody will ask for again. */
    @Test
    void oneThatForgetsTheNumberIsCaught() {
        int[] names = new int[1];
        isCaught(delivery -> new Same(delivery) {
            @Override
            public long lastDelivered() {
                return 0;
            }

            @Override
            public void deliver(long number, Records records) {
                super.deliver(1_000_000L + names[0]++, records);
            }
        });
    }

    /** The answer to a commit is lost, as it is when a connection breaks: who writes again without asking doubles. */
    @Test
    void oneThatWritesAgainWithoutAskingIsCaught() {
        int[] calls = new int[1];
        isCaught(delivery -> new Same(delivery) {
            @Override
            public void deliver(long number, Records records) {
                super.deliver(1_000_000L + calls[0]++, records);
                if (calls[0] % 2 == 1) {
                    throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the answer is lost");
                }
            }

            @Override
            public long lastDelivered() {
                return 0;
            }
        });
    }
}
