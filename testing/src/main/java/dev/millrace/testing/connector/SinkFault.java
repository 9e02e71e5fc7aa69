package dev.millrace.testing.connector;

import dev.millrace.batch.Batch;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SinkContext;
import java.util.List;
import java.util.Optional;

/** A fault that a sink may have, from its second checkpoint on, for tests that see whether the suite catches it. */
public enum SinkFault {
    NONE,

    /** What is prepared is shown, whether the checkpoint comes to something or not. */
    SHOWS_EARLY,

    /** A checkpoint is on disk, and its rows are not shown. */
    SKIPS_A_COMMIT,

    /** Says of rows that they are durable which it has not. */
    ACKNOWLEDGES_EARLY,

    /** Begins each time as if there had been no checkpoint. */
    FORGETS_WHERE_IT_WAS;

    /** The outside whose sinks have this fault. */
    SinkOutside in(SinkOutside outside) {
        return new SinkOutside() {
            private int cuts; // of all sinks, which are one after the other

            @Override
            public CheckpointedSink open(SinkContext context) {
                return new Faulty(outside.open(context));
            }

            @Override
            public List<Long> seen() {
                return outside.seen();
            }

            final class Faulty implements CheckpointedSink {
                private final CheckpointedSink sink;

                Faulty(CheckpointedSink sink) {
                    this.sink = sink;
                }

                private boolean has(SinkFault fault) {
                    return SinkFault.this == fault && cuts > 0;
                }

                @Override
                public void recover(Optional<PreparedRows> from) {
                    sink.recover(has(FORGETS_WHERE_IT_WAS) ? Optional.empty() : from);
                }

                @Override
                public void write(Batch batch) {
                    if (!has(ACKNOWLEDGES_EARLY)) {
                        sink.write(batch);
                    }
                }

                @Override
                public void commit(long epoch) {
                    sink.commit(epoch);
                }

                @Override
                public byte[] prepare(long checkpoint) {
                    byte[] token = sink.prepare(checkpoint);
                    if (has(SHOWS_EARLY)) {
                        sink.publish(checkpoint);
                    }
                    cuts++;
                    return token;
                }

                @Override
                public void publish(long checkpoint) {
                    if (cuts < 2 || SinkFault.this != SKIPS_A_COMMIT) {
                        sink.publish(checkpoint);
                    }
                }

                @Override
                public boolean isFull() {
                    return sink.isFull();
                }

                @Override
                public void close() {
                    sink.close();
                }
            }
        };
    }
}
