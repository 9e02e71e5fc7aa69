package dev.millrace.connectors.jdbc;

import dev.millrace.connectors.outbox.Delivery;
import java.util.function.Consumer;

/** Delivers the changes of a checkpoint in one transaction, with its number in {@code millrace_progress}. Used by one thread. */
final class JdbcDelivery implements Delivery {
    private final JdbcWriter writer;
    private final String sink;

    /**
     * @param writer is closed with this
     * @param sink a name that no other sink has there
     */
    JdbcDelivery(JdbcWriter writer, String sink) {
        this.writer = writer;
        this.sink = sink;
    }

    @Override
    public void check() {
        writer.check();
    }

    @Override
    public long lastDelivered() {
        return writer.checkpoint(sink).orElse(0);
    }

    @Override
    public void deliver(long number, Records records) {
        writer.write(
                new WrittenChange.Sequence() {
                    @Override
                    public long count() {
                        return records.count();
                    }

                    @Override
                    public void forEach(Consumer<WrittenChange> each) {
                        records.forEach(bytes -> each.accept(SpooledChanges.read(bytes)));
                    }
                },
                sink,
                number);
    }

    @Override
    public void close() {
        writer.close();
    }
}
