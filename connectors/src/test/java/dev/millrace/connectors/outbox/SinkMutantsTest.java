package dev.millrace.connectors.outbox;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SinkContext;
import dev.millrace.testing.connector.SinkLives;
import dev.millrace.testing.connector.SinkOutside;
import dev.millrace.testing.connector.TestSinkContext;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The conformance suite catches sinks that do not hold to the contract: each of these is one that does, with a fault. */
@Tag("long")
class SinkMutantsTest {
    private static final int LIVES = 5;
    private static final int STEPS = 60;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path home;

    /** A sink that is another but for what is overridden. */
    private static class Same implements CheckpointedSink {
        final CheckpointedSink sink;

        Same(CheckpointedSink sink) {
            this.sink = sink;
        }

        @Override
        public void recover(Optional<PreparedRows> from) {
            sink.recover(from);
        }

        @Override
        public void write(Batch batch) {
            sink.write(batch);
        }

        @Override
        public void commit(long epoch) {
            sink.commit(epoch);
        }

        @Override
        public byte[] prepare(long checkpoint) {
            return sink.prepare(checkpoint);
        }

        @Override
        public void publish(long checkpoint) {
            sink.publish(checkpoint);
        }

        @Override
        public void close() {
            sink.close();
        }
    }

    /** The records of an outside that has everything in memory, and takes it at once. */
    private record Mutant(MemoryOutside outside, UnaryOperator<CheckpointedSink> fault) implements SinkOutside {
        @Override
        public CheckpointedSink open(SinkContext context) {
            return fault.apply(outside.open(context));
        }

        @Override
        public List<Long> seen() {
            return outside.seen();
        }
    }

    private void isCaught(UnaryOperator<CheckpointedSink> fault) {
        assertThrows(Throwable.class, () -> lives(fault, true));
    }

    private void lives(UnaryOperator<CheckpointedSink> fault, boolean isFaulty) {
        for (int seed = 1; seed <= LIVES; seed++) {
            Path directory = home.resolve("life " + seed);
            try (SinkLives lives = new SinkLives(
                            new Mutant(new MemoryOutside(seed, 0), fault),
                            new TestSinkContext(memory.allocator(), "d", directory),
                            seed)
                    .impatient(isFaulty)) {
                lives.live(STEPS);
            }
        }
    }

    @Test
    void aSinkWithoutAFaultIsNot() {
        lives(Same::new, false);
    }

    @Test
    void aSinkThatShowsWhatItPreparesIsCaught() {
        isCaught(sink -> new Same(sink) {
            @Override
            public byte[] prepare(long checkpoint) {
                byte[] token = super.prepare(checkpoint);
                sink.publish(checkpoint); // whether the checkpoint comes to something or not
                return token;
            }
        });
    }

    @Test
    void aSinkThatForgetsWhereItWasIsCaught() {
        isCaught(sink -> new Same(sink) {
            @Override
            public void recover(Optional<PreparedRows> from) {
                super.recover(Optional.empty());
            }
        });
    }

    @Test
    void aSinkThatLosesABatchAtACutIsCaught() {
        isCaught(sink -> new Same(sink) {
            private boolean isCut;

            @Override
            public void write(Batch batch) {
                if (!isCut) {
                    super.write(batch);
                }
                isCut = false;
            }

            @Override
            public byte[] prepare(long checkpoint) {
                isCut = true;
                return super.prepare(checkpoint);
            }
        });
    }

    @Test
    void aSinkThatGivesAnOlderTokenIsCaught() {
        isCaught(sink -> new Same(sink) {
            private Optional<byte[]> before = Optional.empty();

            @Override
            public byte[] prepare(long checkpoint) {
                byte[] token = super.prepare(checkpoint);
                byte[] old = before.orElse(token);
                before = Optional.of(token);
                return old;
            }
        });
    }

    @Test
    void aSinkThatWritesARowAgainIsCaught() {
        isCaught(sink -> new Same(sink) {
            @Override
            public void write(Batch batch) {
                super.write(batch);
                super.write(batch);
            }
        });
    }

    @Test
    void aSinkThatSkipsACommitIsCaught() {
        isCaught(sink -> new Same(sink) {
            @Override
            public void publish(long checkpoint) {
                sink.publish(checkpoint - 1); // what was cut for it waits for the next one
            }
        });
    }
}
