package dev.millrace.testing.connector;

import dev.millrace.connector.FedTable;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SplitStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.time.Clock;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/**
 * The table of a {@link FeedOutside} as it is on disk: rows and the position beside them change in one step. At some call it crashes: that call and all
 * later ones fail, before or behind what is on disk then. Safe on any thread.
 */
final class KeptTable implements AutoCloseable {
    private final BufferAllocator allocator = new RootAllocator(64 << 20);
    private final Map<Integer, Integer> rows = new TreeMap<>();
    private Optional<SourcePosition> position = Optional.empty();
    private long replaced; // how often all rows were given at once

    synchronized Map<Integer, Integer> rows() {
        return new TreeMap<>(rows);
    }

    synchronized boolean hasPosition() {
        return position.isPresent();
    }

    synchronized long replaced() {
        return replaced;
    }

    /** The table for one run, that of {@code callsUntilCrash} calls. */
    FedTable run(int callsUntilCrash, boolean isKeptAtCrash) {
        return new Run(callsUntilCrash, isKeptAtCrash);
    }

    /** No run is under way. @throws IllegalStateException if one left memory behind */
    @Override
    public void close() {
        allocator.close();
    }

    private final class Run implements FedTable {
        private int left;
        private final boolean isKeptAtCrash;

        Run(int left, boolean isKeptAtCrash) {
            this.left = left;
            this.isKeptAtCrash = isKeptAtCrash;
        }

        @Override
        public Optional<SourcePosition> position() {
            synchronized (KeptTable.this) {
                return position;
            }
        }

        @Override
        public void change(List<RowChange> changes, Optional<SourcePosition> next) {
            apply(() -> changes.forEach(this::put), next);
        }

        @Override
        public void replace(Iterator<RowChange> all, Optional<SourcePosition> next) {
            Map<Integer, Integer> read = new TreeMap<>();
            all.forEachRemaining(change -> put(read, change));
            apply(
                    () -> {
                        rows.clear();
                        rows.putAll(read);
                        replaced++;
                    },
                    next);
        }

        private void apply(Runnable change, Optional<SourcePosition> next) {
            synchronized (KeptTable.this) {
                left--;
                boolean crashes = left <= 0;
                if (left >= 0 && (!crashes || isKeptAtCrash)) {
                    change.run();
                    position = next.isPresent() ? next : position;
                }
                if (crashes) {
                    throw MillraceException.user(SqlState.QUERY_CANCELED, "the process was killed");
                }
            }
        }

        private void put(RowChange change) {
            put(rows, change);
        }

        private void put(Map<Integer, Integer> to, RowChange change) {
            int id = Integer.parseInt(change.values().get(0).orElseThrow());
            if (change.isDelete()) {
                to.remove(id);
            } else {
                to.put(id, Integer.valueOf(change.values().get(1).orElseThrow()));
            }
        }

        @Override
        public void tell(List<SplitStatus> splits) {}

        @Override
        public void reject(RejectedRecord record) {
            throw MillraceException.user(record.sqlState(), record.reason());
        }

        @Override
        public void report(RejectedRecord what) {}

        @Override
        public BufferAllocator allocator() {
            return allocator;
        }

        @Override
        public void note(String what) {}

        @Override
        public Clock clock() {
            return Clock.system();
        }
    }
}
