package dev.millrace.engine.group;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.heap.HeapBudget;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.ViewScan;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The answers of a group's members, where these are views. A member has none until it has a row, or is read: one that nothing concerns costs nothing here.
 *
 * <pre>
 *   rows of an epoch, of all members - staged, each in the view of its member - stamped with the epoch's version - shown, all at once
 * </pre>
 *
 * Who completes an epoch {@link #stage stages}, who publishes it stamps and then {@link #reclaim reclaims}, one at a time each; views are read on any thread, and come and go
 * while nothing of their member is staged or published, but for those that are dropped.
 */
public final class MemberViews implements AutoCloseable {
    private static final long VIEW_BYTES = 4 << 10; // of the Java heap: objects and small arrays

    /** What an epoch stages in one of them. */
    private record Part(VersionedView rows, VersionedView.Staged staged) {}

    private final GroupMembers members;
    private final Schema schema;
    private final int[] columns; // of what the group gives: behind the member's number
    private final int batchRows;
    private final Supplier<BufferAllocator> memory;
    private final LongSupplier version;
    private final List<MemberView> ofBatch = new ArrayList<>(); // while an epoch is staged
    private final List<VersionedView> written = new ArrayList<>(); // and not reclaimed; of who publishes

    @GuardedBy("this") private final MemberRoom room;

    @GuardedBy("this") private Optional<BufferAllocator> allocator = Optional.empty(); // from the first on

    @GuardedBy("this") private boolean closed;

    /**
     * @param schema of what a member gives
     * @param memory an allocator for all of them, which outlives who reads them; asked for once at most
     * @param version that is current
     */
    public MemberViews(
            GroupMembers members,
            Schema schema,
            int batchRows,
            Supplier<BufferAllocator> memory,
            LongSupplier version,
            HeapBudget heap) {
        this.members = members;
        this.schema = schema;
        this.columns = IntStream.rangeClosed(1, schema.size()).toArray();
        this.batchRows = batchRows;
        this.memory = memory;
        this.version = version;
        this.room = new MemberRoom(heap, VIEW_BYTES);
    }

    // ---- members ---------------------------------------------------------------------------------------------------

    /**
     * The view of a member, made now if it has none.
     *
     * @return empty if the member is not there any more
     * @throws MillraceException 53200 without room for it
     */
    public Optional<VersionedView> of(Member member) {
        return view(member).map(MemberView::rows);
    }

    private Optional<MemberView> view(Member member) {
        return member.view().or(() -> made(member));
    }

    private synchronized Optional<MemberView> made(Member member) {
        if (member.view().isEmpty() && !closed && members.find(member.number()) == member) {
            room.take(member.name());
            if (allocator.isEmpty()) {
                allocator = Optional.of(memory.get());
            }
            VersionedView rows = new VersionedView(schema, batchRows, allocator.get());
            rows.follow(version);
            member.view(Optional.of(new MemberView(rows)));
        }
        return member.view();
    }

    /** A member that is out has none any more. While nothing of it is published. */
    public synchronized void remove(Member member) {
        member.view().ifPresent(view -> {
            member.view(Optional.empty());
            view.rows().close();
            room.give();
        });
    }

    /** Fills a view, which nobody has yet, with the rows of a member. While the group's epochs are at rest. */
    public void copy(Member member, VersionedView to, BufferAllocator target) {
        List<Integer> all = IntStream.range(0, schema.size()).boxed().toList();
        member.view().ifPresent(view -> {
            try (ViewScan scan = view.rows().scan(all)) {
                for (Optional<Batch> next = scan.next(target); next.isPresent(); next = scan.next(target)) {
                    try (Batch batch = next.get()) {
                        to.fill(List.of(batch));
                    }
                }
            }
        });
    }

    /** Bytes that all of them take. */
    public synchronized long bytes() {
        return allocator.map(BufferAllocator::getAllocatedMemory).orElse(0L);
    }

    /** All members, those without rows among them. */
    public List<Member> members() {
        return members.all();
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    /**
     * Makes the rows of an epoch, of which the batches stay the caller's. A member for whose view there is no room on the Java heap fails.
     *
     * @return stamps them with a version that is not current yet, which cannot fail
     * @throws org.apache.arrow.memory.OutOfMemoryException and nothing was staged
     */
    public LongConsumer stage(List<Batch> batches) {
        List<MemberView> ofEpoch = new ArrayList<>();
        try {
            batches.forEach(batch -> stage(batch, ofEpoch));
        } catch (RuntimeException | Error e) {
            ofEpoch.forEach(MemberView::giveUp);
            ofBatch.forEach(MemberView::giveUp);
            ofBatch.clear();
            throw e;
        }
        List<Part> parts = new ArrayList<>(ofEpoch.size());
        ofEpoch.forEach(view -> parts.add(new Part(view.rows(), view.take())));
        return newVersion -> parts.forEach(part -> {
            part.rows.stamp(part.staged, newVersion);
            written.add(part.rows);
        });
    }

    private void stage(Batch batch, List<MemberView> ofEpoch) {
        long numbers = batch.dataAddress(0);
        for (int row = 0; row < batch.rowCount(); row++) {
            Member member = members.find(Memory.getLong(numbers + 8L * row));
            if (member == null || member.failure().isPresent()) { // of who failed the epoch is nowhere
                continue;
            }
            Optional<MemberView> view = viewOrFail(member);
            if (view.isPresent() && view.get().pick(row)) {
                ofBatch.add(view.get());
            }
        }
        for (MemberView view : ofBatch) {
            if (view.stage(batch, columns)) {
                ofEpoch.add(view);
            }
        }
        ofBatch.clear();
    }

    private Optional<MemberView> viewOrFail(Member member) {
        try {
            return view(member);
        } catch (MillraceException e) {
            member.fails(e);
            members.failed(member);
            return Optional.empty();
        }
    }

    /** Frees rows that nobody sees any more; when what was stamped is current. */
    public void reclaim() {
        written.forEach(VersionedView::reclaim);
        written.clear();
    }

    @Override
    public void close() {
        List<AutoCloseable> all = new ArrayList<>();
        synchronized (this) {
            closed = true;
            members.all().forEach(member -> member.view().ifPresent(view -> all.add(view.rows())));
            all.add(room);
        }
        Closing.all(all);
    }
}
