package dev.millrace.testing.connector;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A fault that a source may have, for tests that see whether the suite catches it. */
public enum SourceFault {
    NONE,

    /** One of the readers does not go on. */
    FORGETS_A_SPLIT,

    /** Its positions are behind rows that it has not given yet. */
    ACKNOWLEDGES_EARLY,

    /** Begins at the first row each time, whatever was kept. */
    FORGETS_ITS_POSITIONS,

    /** The first batch of each reader is not given. */
    LOSES_A_BATCH;

    /** The outside whose source has this fault. */
    SourceOutside in(SourceOutside outside) {
        return new SourceOutside() {
            @Override
            public Source source() {
                return SourceFault.this.in(outside.source());
            }

            @Override
            public void append(long from, long to) {
                outside.append(from, to);
            }

            @Override
            public void poison() {
                outside.poison();
            }
        };
    }

    /** A source that is the given one with this fault. */
    public Source in(Source source) {
        return new Source() {
            @Override
            public Schema schema() {
                return source.schema();
            }

            @Override
            public boolean bounded() {
                return source.bounded();
            }

            @Override
            public boolean replayable() {
                return source.replayable();
            }

            @Override
            public List<SourceReader> open(ScanRequest request, SourceContext context) {
                return faulty(source.open(request, context));
            }

            @Override
            public List<SourceReader> reopen(
                    ScanRequest request, List<SourcePosition> positions, SourceContext context) {
                if (SourceFault.this == FORGETS_ITS_POSITIONS) {
                    return source.open(request, context);
                }
                List<SourceReader> readers = new ArrayList<>(source.reopen(request, positions, context));
                if (SourceFault.this == FORGETS_A_SPLIT && !readers.isEmpty()) {
                    readers.remove(0).close();
                }
                return faulty(readers);
            }
        };
    }

    private List<SourceReader> faulty(List<SourceReader> readers) {
        return readers.stream().<SourceReader>map(Faulty::new).toList();
    }

    private final class Faulty implements SourceReader {
        private final SourceReader reader;
        private Optional<Batch> next = Optional.empty(); // of a reader that is one batch further than what it gives
        private int polled; // batches

        Faulty(SourceReader reader) {
            this.reader = reader;
        }

        @Override
        public Optional<Batch> poll() {
            Optional<Batch> batch = reader.poll();
            polled += batch.isPresent() ? 1 : 0;
            return switch (SourceFault.this) {
                case ACKNOWLEDGES_EARLY -> {
                    Optional<Batch> given = next;
                    next = batch;
                    yield given;
                }
                case LOSES_A_BATCH -> {
                    boolean isLost = polled == 1;
                    batch.filter(lost -> isLost).ifPresent(Batch::close);
                    yield batch.filter(given -> !isLost);
                }
                case NONE, FORGETS_A_SPLIT, FORGETS_ITS_POSITIONS -> batch;
            };
        }

        @Override
        public boolean isFinished() {
            return next.isEmpty() && reader.isFinished();
        }

        @Override
        public long retryAfterMicros() {
            return reader.retryAfterMicros();
        }

        @Override
        public Part part() {
            return reader.part();
        }

        @Override
        public Optional<SourcePosition> position() {
            return reader.position();
        }

        @Override
        public List<SplitStatus> splits() {
            return reader.splits();
        }

        @Override
        public void close() {
            next.ifPresent(Batch::close);
            next = Optional.empty();
            reader.close();
        }
    }
}
