package dev.millrace.testing.connector;

import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.SplitStatus;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A fault that a source may have that others push to, for tests that see whether the suite catches it. */
public enum PushedFault {
    NONE,

    /** Tells whoever brought records that they are kept when they are given. */
    ACKNOWLEDGES_EARLY,

    /** Each third batch is no rows, and is acknowledged with those that are. */
    LOSES_A_BATCH,

    /** Does not remember what came: of sources that are exactly once. */
    FORGETS_WHAT_CAME,

    /** Remembers for ever: of the same. */
    NEVER_FORGETS,

    /** Hears nothing any more after its connection was lost for the first time: of those that have one. */
    FORGETS_ITS_SUBSCRIPTION;

    /** A reader that is the given one with this fault. */
    PushedReader in(PushedReader reader) {
        return this == NONE ? reader : new Faulty(reader);
    }

    private final class Faulty implements PushedReader {
        private final PushedReader reader;
        private long given;
        private boolean isDeaf;

        Faulty(PushedReader reader) {
            this.reader = reader;
        }

        private boolean has(PushedFault fault) {
            return PushedFault.this == fault;
        }

        @Override
        public Optional<Batch> poll() {
            isDeaf |= has(FORGETS_ITS_SUBSCRIPTION)
                    && reader.splits().get(0).lastError().isPresent();
            Optional<Batch> batch = reader.poll();
            given += batch.isPresent() ? 1 : 0;
            if (isDeaf || has(LOSES_A_BATCH) && given % 3 == 0) {
                batch.ifPresent(Batch::close);
                return Optional.empty();
            }
            if (has(ACKNOWLEDGES_EARLY)) {
                reader.acknowledge(given);
            }
            return batch;
        }

        @Override
        public MemoryChange remembered() {
            MemoryChange change = reader.remembered();
            return switch (PushedFault.this) {
                case FORGETS_WHAT_CAME -> MemoryChange.NONE;
                case NEVER_FORGETS -> new MemoryChange(change.put(), Set.of());
                case NONE, ACKNOWLEDGES_EARLY, LOSES_A_BATCH, FORGETS_ITS_SUBSCRIPTION -> change;
            };
        }

        @Override
        public void acknowledge(long batches) {
            if (has(LOSES_A_BATCH)) {
                reader.acknowledge(batches + (batches - 1) / 2); // those that nobody was given, too
            } else if (!has(ACKNOWLEDGES_EARLY)) {
                reader.acknowledge(batches);
            }
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
}
