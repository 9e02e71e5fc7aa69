package dev.millrace.engine.group;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * Gives each member's subscribers the member's rows: an epoch is gone through once, however many listen. A member whose rows failed is stopped before the epoch in which they did
 * is told of. {@link #publish} by one thread at a time; audiences come and go while nothing is published.
 */
public final class MemberChanges implements AutoCloseable {
    private final GroupMembers members;
    private final Schema schema; // of what a member gives
    private final Supplier<BufferAllocator> memory;
    private final BiConsumer<Member, MillraceException> stopped;
    private final CopyOnWriteArraySet<Audience> audiences = new CopyOnWriteArraySet<>();
    private Optional<BufferAllocator> allocator = Optional.empty(); // from the first audience on
    private final List<Audience> ofBatch = new ArrayList<>(); // while an epoch is published

    /**
     * @param schema of what a member gives
     * @param memory an allocator for what is copied, of which nobody else has any; asked for once at most
     * @param stopped is told which member cannot go on, and why; once, by who publishes
     */
    public MemberChanges(
            GroupMembers members,
            Schema schema,
            Supplier<BufferAllocator> memory,
            BiConsumer<Member, MillraceException> stopped) {
        this.members = members;
        this.schema = schema;
        this.memory = memory;
        this.stopped = stopped;
    }

    /** Whether anybody listens, or will go on with what is told now. */
    public boolean isHeard() {
        return !audiences.isEmpty();
    }

    /** Whether somebody has all of them wait. */
    public boolean isFull() {
        for (Audience audience : audiences) {
            if (audience.isFull()) {
                return true;
            }
        }
        return false;
    }

    /** The audience of a member, which it has from now on. While nothing is published. */
    public Audience audience(Member member) {
        if (member.audience().isEmpty()) {
            if (allocator.isEmpty()) {
                allocator = Optional.of(memory.get());
            }
            Audience audience = new Audience(schema, allocator.get());
            member.listen(Optional.of(audience));
            audiences.add(audience);
        }
        return member.audience().orElseThrow();
    }

    /** A member has none any more; it is the caller's to close. While nothing is published. */
    public Optional<Audience> remove(Member member) {
        Optional<Audience> audience = member.audience();
        member.listen(Optional.empty());
        audience.ifPresent(audiences::remove);
        return audience;
    }

    /** Everything up to an epoch is seen from now on. The batches stay the caller's. */
    public void publish(long epoch, long micros, List<Batch> rows) {
        for (Member member : List.copyOf(members.failing())) {
            stop(member, epoch);
        }
        if (audiences.isEmpty()) {
            return;
        }
        try {
            rows.forEach(this::split);
            audiences.forEach(audience -> audience.deliver(epoch, micros));
        } finally {
            audiences.forEach(Audience::drop);
        }
    }

    private void stop(Member member, long epoch) {
        members.failing().remove(member);
        Optional<MillraceException> why = member.failedRows().flatMap(failed -> failed.publish(epoch));
        if (member.failedRows().filter(FailedRows::isAhead).isPresent()) {
            members.failed(member); // in an epoch that is told of later
        }
        member.failedRows()
                .flatMap(failed -> failed.stoppedAt(epoch))
                .ifPresent(stop -> member.audience().ifPresent(audience -> audience.stop(stop)));
        if (member.failure().isPresent()) {
            member.audience().ifPresent(audience -> audience.end(member.failure()));
        }
        why.or(member::failure).ifPresent(first -> stopped.accept(member, first));
    }

    private void split(Batch batch) {
        long numbers = batch.dataAddress(0);
        for (int row = 0; row < batch.rowCount(); row++) {
            Member member = members.find(Memory.getLong(numbers + 8L * row));
            if (member != null && member.audience().isPresent()) {
                Audience audience = member.audience().get();
                if (audience.collect(row)) {
                    ofBatch.add(audience);
                }
            }
        }
        for (Audience audience : ofBatch) {
            copy(audience, batch);
        }
        ofBatch.clear();
    }

    /** Without memory for what it is to be told an audience is told no more, and the others are. */
    private void copy(Audience audience, Batch batch) {
        try {
            audience.copy(batch);
        } catch (OutOfMemoryException e) {
            audience.drop();
            audience.end(Optional.of(
                    MillraceException.resources(SqlState.OUT_OF_MEMORY, "out of memory: memory_limit is used up")));
        }
    }

    public void end(Optional<MillraceException> why) {
        audiences.forEach(audience -> audience.end(why));
    }

    @Override
    public void close() {
        List<Audience> all = List.copyOf(audiences);
        audiences.clear();
        Closing.all(all);
    }
}
