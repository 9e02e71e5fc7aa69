package dev.millrace.connectors.mqtt;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.testing.connector.PushedLives;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.mqtt.WithMosquitto;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The conformance suite catches sources that do not hold to the contract: each of these is the source for MQTT, with a fault. */
@Timeout(180)
@Tag("long")
@WithMosquitto
class MqttSourceMutantsTest {
    private static final int LIVES = 2;
    private static final int STEPS = 60;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** A reader that is another but for what is overridden. */
    private static class Same implements PushedReader {
        final PushedReader reader;

        Same(PushedReader reader) {
            this.reader = reader;
        }

        @Override
        public Optional<Batch> poll() {
            return reader.poll();
        }

        @Override
        public MemoryChange remembered() {
            return reader.remembered();
        }

        @Override
        public void acknowledge(long batches) {
            reader.acknowledge(batches);
        }

        @Override
        public boolean isFinished() {
            return reader.isFinished();
        }

        @Override
        public long retryAfterMicros() {
            return reader.retryAfterMicros();
        }

        @Override
        public List<SplitStatus> splits() {
            return reader.splits();
        }

        @Override
        public void close() {
            reader.close();
        }
    }

    private void isCaught(int qos, UnaryOperator<PushedReader> fault) {
        assertThrows(Throwable.class, () -> lives(qos, fault, true));
    }

    private void lives(int qos, UnaryOperator<PushedReader> fault, boolean isFaulty) {
        for (int seed = 1; seed <= LIVES; seed++) {
            try (MqttOutside outside = new MqttOutside("5", qos);
                    PushedLives lives = new PushedLives(outside, memory.allocator(), seed, fault).impatient(isFaulty)) {
                lives.live(STEPS);
            }
        }
    }

    @Test
    void aSourceWithoutAFaultIsNot() {
        lives(2, Same::new, false);
    }

    @Test
    void aSourceThatAcknowledgesBeforeItIsOnDiskIsCaught() {
        isCaught(1, reader -> new Same(reader) {
            private long given;

            @Override
            public Optional<Batch> poll() {
                Optional<Batch> batch = super.poll();
                if (batch.isPresent()) {
                    reader.acknowledge(++given);
                }
                return batch;
            }

            @Override
            public void acknowledge(long batches) {}
        });
    }

    @Test
    void aSourceThatNeverForgetsIsCaught() {
        isCaught(2, reader -> new Same(reader) {
            @Override
            public MemoryChange remembered() {
                return new MemoryChange(reader.remembered().put(), Set.of());
            }
        });
    }

    /** It hears nothing any more after the connection was lost for the first time. */
    @Test
    void aSourceThatForgetsItsSubscriptionIsCaught() {
        isCaught(1, reader -> new Same(reader) {
            private boolean isDeaf;

            @Override
            public Optional<Batch> poll() {
                isDeaf |= reader.splits().get(0).lastError().isPresent();
                Optional<Batch> batch = super.poll();
                if (isDeaf) {
                    batch.ifPresent(Batch::close);
                    return Optional.empty();
                }
                return batch;
            }
        });
    }
}
