package dev.millrace.connectors.file;

import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SourceContext;
import dev.millrace.error.MillraceException;
import dev.millrace.time.Clock;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;

/** What a followed file's reader is lent: it tells a bad record that ends the query from a file that cannot be read. */
final class FollowContext implements SourceContext {
    private final SourceContext given;
    private final boolean oneOfMany;
    private Optional<MillraceException> rejection = Optional.empty();
    private long rejectedAt; // the position in its file

    /** @param oneOfMany whether a file may be of another kind than the stream: then its first record is not the stream's to fail of */
    FollowContext(SourceContext given, boolean oneOfMany) {
        this.oneOfMany = oneOfMany;
        this.given = given;
    }

    /** Whether this is what rejecting a record threw. */
    boolean isRejection(MillraceException e) {
        return rejection.filter(thrown -> thrown == e).isPresent();
    }

    /** Whether this is what rejecting the first record of a file threw. */
    boolean isRejectionOfFirst(MillraceException e) {
        return isRejection(e) && rejectedAt == 1;
    }

    @Override
    public BufferAllocator allocator() {
        return given.allocator();
    }

    @Override
    public Clock clock() {
        return given.clock();
    }

    @Override
    public int batchRows() {
        return given.batchRows();
    }

    @Override
    public void wakeUp() {
        given.wakeUp();
    }

    @Override
    public void reject(RejectedRecord record) {
        try {
            if (oneOfMany && record.position() == 1 && given.failsOfRejected()) {
                throw MillraceException.user(record.sqlState(), record.origin() + ":1: " + record.reason());
            }
            given.reject(record);
        } catch (MillraceException e) {
            rejection = Optional.of(e);
            rejectedAt = record.position();
            throw e;
        }
    }

    @Override
    public boolean failsOfRejected() {
        return given.failsOfRejected();
    }

    @Override
    public void report(RejectedRecord record) {
        given.report(record);
    }
}
