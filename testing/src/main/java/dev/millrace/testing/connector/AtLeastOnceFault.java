package dev.millrace.testing.connector;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkStatus;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** A fault that a sink may have that writes at least once, for tests that see whether the suite catches it. */
public enum AtLeastOnceFault {
    NONE,

    /** Epochs are not brought to their ends. */
    SKIPS_COMMITS,

    /** Commits an epoch without the last batch of it, which comes with the next one. */
    COMMITS_EARLY,

    /** What is written first after a restart is not written. */
    FORGETS_A_BATCH_AT_A_RESTART,

    /** Writes again after a restart what a checkpoint has. */
    FORGETS_WHERE_IT_WAS,

    /** Goes on when a row is refused, as if it had been taken. */
    DROPS_WHAT_IS_REFUSED,

    /** One batch comes after the next one. */
    CHANGES_THE_ORDER;

    /** The outside whose sinks have this fault. */
    AtLeastOnceOutside in(AtLeastOnceOutside outside) {
        return new AtLeastOnceOutside() {
            private int opened;
            private List<Row> first = List.of(); // batch of all

            @Override
            public Sink open(SinkContext context) {
                return new Faulty(outside.open(context), context.allocator(), opened++ > 0);
            }

            @Override
            public List<Long> came() {
                return outside.came();
            }

            @Override
            public boolean goes() {
                return outside.goes();
            }

            @Override
            public void comes() {
                outside.comes();
            }

            @Override
            public Optional<String> refused() {
                return outside.refused();
            }

            final class Faulty implements Sink {
                private final Sink sink;
                private final BufferAllocator allocator;
                private boolean isAgain; // opened after a crash, and not written to
                private List<Row> held = List.of();

                Faulty(Sink sink, BufferAllocator allocator, boolean isAgain) {
                    this.sink = sink;
                    this.allocator = allocator;
                    this.isAgain = isAgain;
                }

                @Override
                public void write(Batch batch) {
                    List<Row> rows = TestBatches.rows(batch);
                    if (first.isEmpty()) {
                        first = rows;
                    }
                    boolean wasAgain = isAgain;
                    isAgain = false;
                    switch (AtLeastOnceFault.this) {
                        case NONE, SKIPS_COMMITS -> sink.write(batch);
                        case FORGETS_A_BATCH_AT_A_RESTART -> write(wasAgain ? List.of() : rows);
                        case FORGETS_WHERE_IT_WAS -> {
                            write(wasAgain ? first : List.of());
                            sink.write(batch);
                        }
                        case DROPS_WHAT_IS_REFUSED -> passesOver(() -> sink.write(batch));
                        case COMMITS_EARLY -> {
                            write(held);
                            held = rows;
                        }
                        case CHANGES_THE_ORDER -> {
                            List<Row> before = held;
                            held = before.isEmpty() ? rows : List.of();
                            if (!before.isEmpty()) {
                                sink.write(batch);
                                write(before);
                            }
                        }
                    }
                }

                private void write(List<Row> rows) {
                    if (!rows.isEmpty()) {
                        try (Batch batch = TestBatches.of(SCHEMA, allocator, rows)) {
                            sink.write(batch);
                        }
                    }
                }

                private void passesOver(Runnable call) {
                    try {
                        call.run();
                    } catch (MillraceException e) {
                        // the fault
                    }
                }

                @Override
                public void commit(long epoch) {
                    switch (AtLeastOnceFault.this) {
                        case SKIPS_COMMITS -> {}
                        case DROPS_WHAT_IS_REFUSED -> passesOver(() -> sink.commit(epoch));
                        case CHANGES_THE_ORDER -> {
                            write(held);
                            held = List.of();
                            sink.commit(epoch);
                        }
                        case NONE, COMMITS_EARLY, FORGETS_A_BATCH_AT_A_RESTART, FORGETS_WHERE_IT_WAS ->
                            sink.commit(epoch);
                    }
                }

                @Override
                public Optional<SinkStatus> status() {
                    return sink.status();
                }

                @Override
                public void close() {
                    sink.close();
                }
            }
        };
    }
}
