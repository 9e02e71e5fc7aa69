package dev.millrace.engine.relation;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.epoch.EpochInput;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.VersionedView.Staged;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;

/** A stream or table that callers append to. Rows go from the caller's thread straight into the readers' channels. */
final class AppendedRelation implements WritableRelation, AutoCloseable {
    private record Epoch(long epoch, List<Staged> rows) {}

    private volatile String name; // written by who renames it, when no checkpoint is made, read by all
    private volatile long number; // of the journal; 0 if it has no entries of this; written as the schema
    private volatile Schema schema; // written by who alters the table, read by those who append
    private final Resources resources;
    private final MemoryScope memory;
    private final Fanout fanout;
    private final EpochInput input;
    private final Optional<Restores.Part> firstRows; // of a table
    private volatile Optional<VersionedView> view; // of a table; replaced while nothing is published
    private final List<VersionedView> earlier = new CopyOnWriteArrayList<>(); // what it may be again
    private final Optional<EpochOutput> output; // of a table
    private List<Staged> open = new ArrayList<>(); // rows of the open epoch; guarded by the epochs' lock

    @GuardedBy("ended") private final ArrayDeque<Epoch> ended = new ArrayDeque<>();

    private volatile boolean dropped; // written by close, read by those who append

    /**
     * @param number by which the journal knows the relation; 0 if nothing of it is written down
     * @param saved where its rows are, if they are anywhere
     * @param restores by which they are read while it is there already; if there is none, now
     */
    AppendedRelation(
            String name,
            Schema schema,
            boolean keepsRows,
            long number,
            Resources resources,
            Optional<SavedSections> saved,
            Optional<Restores> restores) {
        this.name = name;
        this.number = number;
        this.schema = schema;
        this.resources = resources;
        this.fanout = new Fanout(resources.signal());
        this.memory = resources.memory().newScope(scopeOf(name, keepsRows));
        var domain = resources.epochs().newDomain();
        if (keepsRows) {
            VersionedView rows = new VersionedView(schema, resources.batchRows(), memory.newChild("rows"));
            firstRows = saved.map(sections -> restores.orElseGet(() -> Restores.ofCaller(1, Runnable::run))
                    .add(() -> SavedTable.restore(sections, section(sections.nameThen(name)), rows)));
            try {
                if (restores.isEmpty()) {
                    firstRows.ifPresent(Restores.Part::await);
                }
            } catch (RuntimeException | Error e) {
                rows.close();
                resources.memory().release(memory);
                throw e;
            }
            firstRows.ifPresent(part -> rows.beginWith(part::await));
            view = Optional.of(rows);
            EpochOutput added = resources.epochs().addOutput(domain, new Publisher(), () -> {});
            output = Optional.of(added);
            rows.follow(added::version);
        } else {
            firstRows = Optional.empty();
            view = Optional.empty();
            output = Optional.empty();
        }
        input = resources.epochs().addInput(domain, this::endEpochs);
    }

    private static String scopeOf(String name, boolean keepsRows) {
        return (keepsRows ? "table" : "stream") + " \"" + name + "\"";
    }

    /** Has another name from now on. While no checkpoint is made. */
    void rename(String newName) {
        name = newName;
        memory.rename(scopeOf(newName, view.isPresent()));
    }

    private String section() {
        return section(name);
    }

    private static String section(String name) {
        return "rows " + name;
    }

    /** Its rows are to be in a checkpoint, of which nothing has come yet. */
    void expect(Barrier barrier) {
        if (view.isPresent()) {
            barrier.expect(this);
        }
    }

    /** Pins the rows that a checkpoint is to have, which are current now. */
    private void keepFor(Barrier barrier) {
        if (barrier.begin(this)) {
            try {
                barrier.later(new SavedTable(view.orElseThrow()).in(section()));
                barrier.done(0);
            } catch (RuntimeException | Error e) {
                barrier.failed(e);
            }
        }
    }

    Scannable.Feed feed() {
        return new Scannable.Feed(
                schema, fanout, () -> resources.epochs().domainOf(input), output, view, resources.signal()::raise);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Schema schema() {
        return schema;
    }

    @Override
    public Accepted accept(List<Batch> batches) {
        try {
            batches.forEach(this::check);
            waitForRoom();
            Optional<Staged> staged = stage(batches);
            try (Journal.Entry entry = resources.epochs().journal().prepare(change(batches))) {
                while (true) {
                    Optional<Accepted> accepted =
                            resources.epochs().append(input, entry, () -> accept(batches, staged));
                    if (accepted.isPresent()) {
                        return accepted.get();
                    }
                    waitForRoom();
                }
            } catch (RuntimeException | Error e) {
                discard(staged);
                throw e;
            }
        } finally {
            Closing.all(batches);
        }
    }

    @Override
    public Optional<Accepted> acceptAtOnce(List<Batch> batches) {
        Optional<Accepted> accepted = Optional.empty();
        Optional<Staged> staged = Optional.empty();
        try {
            batches.forEach(this::check);
            if (dropped || fanout.isFull() || input.isHeld()) {
                return accepted;
            }
            staged = stage(batches);
            Optional<Staged> rows = staged;
            Optional<Journal.Entry> prepared = resources.epochs().journal().prepareAtOnce(change(batches));
            if (prepared.isPresent()) {
                try (Journal.Entry entry = prepared.get()) {
                    accepted = resources.epochs().appendAside(input, entry, () -> accept(batches, rows));
                }
            }
        } catch (MillraceException e) {
            // accept() says it, if it is still so
        } finally {
            discard(staged);
            if (accepted.isPresent()) {
                Closing.all(batches);
            }
        }
        return accepted;
    }

    /** What is to be written down of rows. */
    List<Journal.Change> change(List<Batch> batches) {
        return number == 0 ? List.of() : List.of(new Journal.Change(number, batches));
    }

    /** Takes the memory that the rows will need to be kept, before anybody sees one of them. */
    Optional<Staged> stage(List<Batch> batches) {
        return view.map(rows -> rows.stage(batches));
    }

    /** Unless they were accepted. */
    void discard(Optional<Staged> staged) {
        staged.filter(rows -> !rows.isAccepted())
                .ifPresent(rows -> view.orElseThrow().discard(rows)); // streams keep none
    }

    /**
     * Gives a table other columns, with all its rows once more. Readers go on, and are told nothing: the columns that they
     * read must be the same. The caller sees to it that nobody appends meanwhile, and that all that was is published.
     *
     * @param rows stay the caller's
     * @param newNumber by which the journal knows the table from now on, which has all its rows; 0 for none
     */
    AlteredTable alter(Schema newSchema, List<Batch> rows, long newNumber) {
        EpochOutput publishing = output.orElseThrow();
        VersionedView before = view.orElseThrow();
        VersionedView altered = new VersionedView(newSchema, resources.batchRows(), memory.newChild("altered rows"));
        Journal journal = resources.epochs().journal();
        try (Journal.Entry entry =
                journal.prepare(newNumber == 0 ? List.of() : List.of(new Journal.Change(newNumber, rows)))) {
            altered.fill(rows);
            altered.follow(publishing::version);
            Altered change = new Altered(before, schema, number, altered);
            publishing.exclusively(() -> {
                before.followers().prepareHandOver(altered);
                earlier.add(before);
                view = Optional.of(altered);
                schema = newSchema;
                number = newNumber;
            });
            change.entry = resources.epochs().atomically(entry::append);
            return change;
        } catch (RuntimeException | Error e) {
            altered.close();
            throw e;
        }
    }

    /** What it was, for as long as it may be that again. */
    private final class Altered implements AlteredTable {
        private final VersionedView before;
        private final Schema oldSchema;
        private final long oldNumber;
        private final VersionedView now;
        private long entry;

        Altered(VersionedView before, Schema oldSchema, long oldNumber, VersionedView now) {
            this.before = before;
            this.oldSchema = oldSchema;
            this.oldNumber = oldNumber;
            this.now = now;
        }

        @Override
        public long entry() {
            return entry;
        }

        @Override
        public void keep() {
            output.orElseThrow().exclusively(() -> {
                before.followers().handOver(now);
                earlier.remove(before);
                before.close();
            });
        }

        @Override
        public void undo() {
            output.orElseThrow().exclusively(() -> {
                before.followers().giveUpHandOver(now);
                earlier.remove(before);
                view = Optional.of(before);
                schema = oldSchema;
                number = oldNumber;
                now.close();
            });
        }
    }

    private void check(Batch batch) {
        if (batch.columnCount() != schema.size()) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "\"" + name + "\" has " + schema.size() + " columns, the rows " + batch.columnCount());
        }
        for (int column = 0; column < schema.size(); column++) {
            if (!batch.schema().type(column).equals(schema.type(column))) {
                throw MillraceException.user(
                        SqlState.DATATYPE_MISMATCH,
                        "column \"" + schema.field(column).name() + "\" of \"" + name + "\" is of type "
                                + schema.type(column) + ", the rows have "
                                + batch.schema().type(column));
            }
            if (!schema.field(column).nullable() && batch.hasNulls(column)) {
                throw MillraceException.user(
                        SqlState.NOT_NULL_VIOLATION,
                        "null value in column \"" + schema.field(column).name() + "\" of relation \"" + name
                                + "\" violates not-null constraint");
            }
        }
        if (view.isEmpty() && batch.weights().isPresent()) {
            throw new IllegalArgumentException("rows of a stream have no weights");
        }
    }

    EpochInput input() {
        return input;
    }

    /** Fails unless the rows fit, and the relation is there. */
    void checkAll(List<Batch> batches) {
        batches.forEach(this::check);
    }

    @Override
    public boolean hasRoom() {
        return dropped || !fanout.isFull() && !input.isHeld();
    }

    void waitForRoom() {
        try {
            resources.workers().await(resources.signal(), this::hasRoom, Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw MillraceException.user(SqlState.QUERY_CANCELED, "canceling statement due to user request");
        }
        if (dropped) {
            throw MillraceException.user(SqlState.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
        }
    }

    /** By who holds the epochs' lock; the batches stay the caller's, what is staged does not. */
    void accept(List<Batch> batches, Optional<Staged> staged) {
        for (Batch batch : batches) {
            if (batch.rowCount() > 0) {
                fanout.rows(batch.retain());
            }
        }
        staged.ifPresent(rows -> open.add(rows.accept()));
    }

    /** Called with the epochs' lock held: what was accepted before is in, what comes later is not. */
    private void endEpochs() {
        for (OptionalLong epoch = input.takeClosing(); epoch.isPresent(); epoch = input.takeClosing()) {
            endEpoch(epoch.getAsLong());
        }
    }

    private void endEpoch(long epoch) {
        fanout.epochEnd(epoch);
        if (output.isPresent()) {
            synchronized (ended) {
                ended.add(new Epoch(epoch, open));
            }
            open = new ArrayList<>();
            output.get().done(epoch);
        }
    }

    private final class Publisher implements EpochOutput.Publisher {
        @Override
        public void stamp(long epoch, long version) {
            while (true) {
                Epoch next;
                synchronized (ended) {
                    if (ended.isEmpty() || ended.peek().epoch > epoch) {
                        return;
                    }
                    next = ended.remove();
                }
                next.rows.forEach(staged -> view.orElseThrow().stamp(staged, version));
            }
        }

        @Override
        public void publish(long epoch, OptionalLong sinceNanos) {
            resources.barriers().at(epoch).ifPresent(AppendedRelation.this::keepFor);
            earlier.forEach(before -> before.followers().published(epoch));
            view.orElseThrow().followers().published(epoch);
            view.orElseThrow().reclaim();
        }
    }

    @Override
    public void close() {
        if (dropped) {
            return;
        }
        dropped = true;
        firstRows.ifPresent(Restores.Part::cancel);
        resources.barriers().current().ifPresent(barrier -> barrier.forget(this));
        resources.signal().raise();
        output.ifPresent(EpochOutput::leave);
        input.leave();
        fanout.end();
        view.ifPresent(VersionedView::close); // with what is staged
        earlier.forEach(VersionedView::close);
        resources.memory().release(memory);
    }
}
