package dev.millrace.testing.connector;

import dev.millrace.connector.FedTable;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connector.TableFeed;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** A fault that a feed may have, for tests that see whether the suite catches it. Each is a feed over the table that it is given. */
public enum FeedFault {
    NONE,

    /** Changes that are lost, and their position is kept. */
    SKIPS_A_COMMIT,

    /** A position that is kept before the changes that it is behind. */
    ACKNOWLEDGES_EARLY,

    /** Begins anew each time. */
    FORGETS_ITS_POSITION;

    private static final int EACH = 3;

    /** The outside whose feeds have this fault. */
    FeedOutside in(FeedOutside outside) {
        return new FeedOutside() {
            @Override
            public TableFeed open() {
                return FeedFault.this.in(outside.open());
            }

            @Override
            public void change(Map<Integer, Optional<Integer>> rows) {
                outside.change(rows);
            }
        };
    }

    private TableFeed in(TableFeed feed) {
        return new TableFeed() {
            @Override
            public boolean hasPosition() {
                return feed.hasPosition();
            }

            @Override
            public void run(FedTable table) throws InterruptedException {
                feed.run(new Faulty(table));
            }
        };
    }

    private final class Faulty implements FedTable {
        private final FedTable table;
        private final List<RowChange> late = new ArrayList<>();
        private int calls;

        Faulty(FedTable table) {
            this.table = table;
        }

        @Override
        public Optional<SourcePosition> position() {
            return FeedFault.this == FORGETS_ITS_POSITION ? Optional.empty() : table.position();
        }

        @Override
        public void change(List<RowChange> changes, Optional<SourcePosition> position) {
            calls += changes.isEmpty() ? 0 : 1;
            if (FeedFault.this == SKIPS_A_COMMIT && !changes.isEmpty() && calls % EACH == 1) {
                table.change(List.of(), position);
            } else if (FeedFault.this == ACKNOWLEDGES_EARLY) {
                table.change(List.of(), position);
                late.addAll(changes);
                table.change(List.copyOf(late), position);
                late.clear();
            } else {
                table.change(changes, position);
            }
        }

        @Override
        public void replace(Iterator<RowChange> rows, Optional<SourcePosition> position) {
            List<RowChange> all = new ArrayList<>();
            rows.forEachRemaining(all::add);
            if (FeedFault.this == SKIPS_A_COMMIT && !all.isEmpty()) {
                all.remove(0);
            }
            table.replace(all.iterator(), position);
        }

        @Override
        public void tell(List<SplitStatus> splits) {
            table.tell(splits);
        }

        @Override
        public void reject(RejectedRecord record) {
            table.reject(record);
        }

        @Override
        public void report(RejectedRecord what) {
            table.report(what);
        }

        @Override
        public BufferAllocator allocator() {
            return table.allocator();
        }

        @Override
        public void note(String what) {
            table.note(what);
        }

        @Override
        public Clock clock() {
            return table.clock();
        }
    }
}
