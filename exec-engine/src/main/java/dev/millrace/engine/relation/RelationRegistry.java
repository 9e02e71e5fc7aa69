package dev.millrace.engine.relation;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Source;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.EpochInput;
import dev.millrace.engine.epoch.EpochOutput;
import dev.millrace.engine.epoch.Journal;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.view.VersionedView.Staged;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The relations by name, and who reads them. Long because whatever changes what a name means is under one lock. */
public final class RelationRegistry implements Relations, AutoCloseable {
    private record Entry(
            Scannable scannable,
            Optional<WritableRelation> writable,
            Optional<RejectedLog> rejected,
            List<AutoCloseable> owned,
            boolean query,
            Set<String> readers) {}

    private final Resources resources;
    private final Function<String, Optional<Scannable.Feed>> members;
    private final Function<String, List<String>> asMembers;

    @GuardedBy("this") private final Map<String, Entry> entries = new LinkedHashMap<>();

    @GuardedBy("this") private final Map<String, Scannable> pasts = new HashMap<>(); // of streams that have one

    @GuardedBy("this") private final Map<String, Set<String>> read = new HashMap<>(); // relations, by the queries that do

    @GuardedBy("this") private Optional<SavedSections> saved = Optional.empty(); // while they are declared again

    @GuardedBy("this") private Optional<Restores> restores = Optional.empty(); // likewise

    /** Of relations and queries alone. */
    public RelationRegistry(Resources resources) {
        this(resources, name -> Optional.empty(), List::of);
    }

    /**
     * @param members what reads the answer of a query that is no relation here by its name; asked without a lock
     * @param asMembers the queries that a reader runs: itself, or the members of a group; asked with this locked
     */
    public RelationRegistry(
            Resources resources,
            Function<String, Optional<Scannable.Feed>> members,
            Function<String, List<String>> asMembers) {
        this.resources = resources;
        this.members = members;
        this.asMembers = asMembers;
    }

    /**
     * From now on relations begin with what a checkpoint has under their names; with none, empty.
     *
     * @param side by which their rows are read while they are there already; if there is none, before
     */
    public synchronized void restoreFrom(Optional<SavedSections> checkpoint, Optional<Restores> side) {
        saved = checkpoint;
        restores = side;
    }

    /** Whether there is something through which rows flow, or may have flowed: not sources that each reader reads by itself. */
    public synchronized boolean hasFeeds() {
        return entries.values().stream().anyMatch(entry -> entry.scannable() instanceof Scannable.Feed);
    }

    /** All but queries are to be in a checkpoint, of which nothing has come yet. */
    public synchronized void expect(Barrier barrier) {
        for (Entry entry : entries.values()) {
            for (AutoCloseable owned : entry.owned()) {
                if (owned instanceof AppendedRelation relation) {
                    relation.expect(barrier);
                } else if (owned instanceof LiveStream live) {
                    live.expect(barrier);
                }
            }
        }
    }

    @Override
    public synchronized void addSource(String name, Source source, OnError onError) {
        requireFree(name);
        RejectedLog rejected = new RejectedLog(onError);
        ReplayableStream stream = new ReplayableStream(name, source, rejected);
        if (source.replayable()) {
            put(
                    name,
                    new Scannable.Replay(source.schema(), stream),
                    Optional.empty(),
                    Optional.of(rejected),
                    List.of());
        } else {
            LiveStream live = new LiveStream(stream, resources, saved);
            put(name, live.feed(), Optional.empty(), Optional.of(rejected), List.of(live));
        }
    }

    @Override
    public WritableRelation addStream(String name, Schema schema, long number, Optional<Source> past) {
        return addStream(name, schema, number, past, Optional.empty());
    }

    @Override
    public FedRelation addPushed(String name, Schema schema, long number, Optional<Source> past, OnError onError) {
        RejectedLog rejected = new RejectedLog(onError);
        return new FedRelation(addStream(name, schema, number, past, Optional.of(rejected)), rejected);
    }

    private synchronized WritableRelation addStream(
            String name, Schema schema, long number, Optional<Source> past, Optional<RejectedLog> rejected) {
        WritableRelation stream = addAppended(name, schema, false, number, rejected);
        past.ifPresent(source -> addPast(name, schema, source));
        return stream;
    }

    @GuardedBy("this") private void addPast(String name, Schema schema, Source past) {
        pasts.put(name, new Scannable.Replay(schema, new ReplayableStream(name, past, new RejectedLog(OnError.FAIL))));
    }

    @Override
    public WritableRelation addTable(String name, Schema schema, long number) {
        return addAppended(name, schema, true, number, Optional.empty());
    }

    @Override
    public FedRelation addFedTable(String name, Schema schema, long number, OnError onError) {
        RejectedLog rejected = new RejectedLog(onError);
        return new FedRelation(addAppended(name, schema, true, number, Optional.of(rejected)), rejected);
    }

    private synchronized WritableRelation addAppended(
            String name, Schema schema, boolean keepsRows, long number, Optional<RejectedLog> rejected) {
        requireFree(name);
        AppendedRelation relation = new AppendedRelation(name, schema, keepsRows, number, resources, saved, restores);
        put(name, relation.feed(), Optional.of(relation), rejected, List.of(relation));
        return relation;
    }

    @Override
    public synchronized AlteredTable alterTable(String name, Schema schema, List<Batch> rows, long number) {
        AppendedRelation table = (AppendedRelation) entry(name).writable().orElseThrow();
        AlteredTable altered = table.alter(schema, rows, number);
        showAsItIs(name, table);
        return new AlteredTable() {
            @Override
            public long entry() {
                return altered.entry();
            }

            @Override
            public void keep() {
                altered.keep();
            }

            @Override
            public void undo() {
                synchronized (RelationRegistry.this) {
                    altered.undo();
                    showAsItIs(name, table);
                }
            }
        };
    }

    @GuardedBy("this") private void showAsItIs(String name, AppendedRelation table) {
        Entry before = entry(name);
        entries.put(
                name,
                new Entry(table.feed(), before.writable(), before.rejected(), before.owned(), false, before.readers()));
    }

    @GuardedBy("this") private void put(
            String name,
            Scannable scannable,
            Optional<WritableRelation> writable,
            Optional<RejectedLog> rejected,
            List<AutoCloseable> owned) {
        entries.put(name, new Entry(scannable, writable, rejected, owned, false, new LinkedHashSet<>()));
    }

    /**
     * The output of a query.
     *
     * @param past reads what it gave so far, if that is kept
     */
    public synchronized void addQuery(String name, Scannable.Feed feed, Optional<Source> past) {
        requireFree(name);
        past.ifPresent(source -> addPast(name, feed.schema(), source));
        entries.put(name, new Entry(feed, Optional.empty(), Optional.empty(), List.of(), true, new LinkedHashSet<>()));
    }

    /** The output of a query under a name that another query's had, whose readers stay. */
    public synchronized void replaceQuery(String name, Scannable.Feed feed) {
        Entry before = entry(name);
        entries.put(name, new Entry(feed, Optional.empty(), Optional.empty(), List.of(), true, before.readers()));
    }

    public synchronized void removeQuery(String name) {
        entries.remove(name);
        pasts.remove(name);
    }

    /** @throws MillraceException if there is a relation of this name */
    public synchronized void requireFree(String name) {
        if (entries.containsKey(name)) {
            throw MillraceException.user(SqlState.DUPLICATE_TABLE, "relation \"" + name + "\" already exists");
        }
    }

    @Override
    public OptionalLong rows(String name) {
        return find(name).orElse(null) instanceof Scannable.Feed feed
                        && feed.view().isPresent()
                ? OptionalLong.of(feed.view().get().rowCount())
                : OptionalLong.empty();
    }

    @Override
    public OptionalLong rowsSoFar(String name) {
        Optional<Scannable> found = find(name);
        if (found.isEmpty()) {
            return OptionalLong.empty();
        }
        if (!(found.get() instanceof Scannable.Feed feed)) {
            return OptionalLong.of(0);
        }
        return feed.view().isPresent()
                ? OptionalLong.empty()
                : OptionalLong.of(feed.fanout().rowsSoFar());
    }

    @GuardedBy("this") private Entry entry(String name) {
        Entry entry = entries.get(name);
        if (entry == null) {
            MillraceException unknown =
                    MillraceException.user(SqlState.UNDEFINED_TABLE, "relation \"" + name + "\" does not exist");
            throw Suggestion.nearest(name, entries.keySet())
                    .map(near -> unknown.withHint("did you mean \"" + near + "\"?"))
                    .orElse(unknown);
        }
        return entry;
    }

    /** What to scan under a name. */
    public Scannable scannable(String name) {
        return find(name).orElseGet(() -> scannableHere(name));
    }

    private synchronized Scannable scannableHere(String name) {
        return entry(name).scannable();
    }

    private Optional<Scannable> find(String name) {
        Optional<Scannable> here = findHere(name);
        if (here.isPresent()) {
            return here;
        }
        Optional<Scannable.Feed> member = members.apply(name);
        return member.isPresent() ? Optional.of(member.get()) : findHere(name); // it may be one by now
    }

    private synchronized Optional<Scannable> findHere(String name) {
        return Optional.ofNullable(entries.get(name)).map(Entry::scannable);
    }

    /** The same for a query that comes to an end: of a stream what it has kept. */
    public Scannable finite(String name) {
        Scannable past;
        synchronized (this) {
            past = pasts.get(name);
        }
        return past == null ? scannable(name) : past;
    }

    /** What shows the rows of a name; empty if there is nothing of it, or its rows do not come by epochs. */
    public Optional<EpochOutput> output(String name) {
        return find(name).flatMap(found -> found instanceof Scannable.Feed feed ? feed.output() : Optional.empty());
    }

    @Override
    public synchronized void rename(String name, String newName) {
        entry(name);
        rename(Map.of(name, newName));
    }

    /** Gives relations, queries among them, other names, all at once: no two have one then. Of names that nothing has nothing becomes. */
    public synchronized void rename(Map<String, String> names) {
        names.forEach((name, newName) -> {
            if (entries.containsKey(name) && !names.containsKey(newName)) {
                requireFree(newName);
            }
        });
        renameKeys(entries, names);
        renameKeys(pasts, names);
        renameKeys(read, names);
        read.replaceAll((query, relations) ->
                Collections.disjoint(relations, names.keySet()) ? relations : renamed(relations, names));
        entries.forEach((name, entry) -> {
            if (!Collections.disjoint(entry.readers(), names.keySet())) {
                Set<String> readers = renamed(entry.readers(), names);
                entry.readers().clear();
                entry.readers().addAll(readers);
            }
        });
        names.values()
                .forEach(name -> Optional.ofNullable(entries.get(name)).ifPresent(entry -> tellName(entry, name)));
    }

    private static void tellName(Entry entry, String name) {
        for (AutoCloseable owned : entry.owned()) {
            if (owned instanceof AppendedRelation relation) {
                relation.rename(name);
            } else if (owned instanceof LiveStream live) {
                live.rename(name);
            }
        }
    }

    private static <T> void renameKeys(Map<String, T> map, Map<String, String> names) {
        Map<String, T> moved = new LinkedHashMap<>();
        names.forEach((name, newName) -> Optional.ofNullable(map.remove(name)).ifPresent(of -> moved.put(newName, of)));
        map.putAll(moved);
    }

    private static Set<String> renamed(Set<String> all, Map<String, String> names) {
        return all.stream()
                .map(name -> names.getOrDefault(name, name))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Notes that a query reads a relation. */
    public synchronized void reads(String query, String relation) {
        entry(relation).readers().add(query);
        read.merge(query, Set.of(relation), RelationRegistry::both); // there may be very many, who read one each
    }

    private static Set<String> both(Set<String> some, Set<String> others) {
        Set<String> both = new HashSet<>(some);
        both.addAll(others);
        return Set.copyOf(both);
    }

    /** A query reads nothing any more. */
    public synchronized void readsNothing(String query) {
        for (String relation : read.getOrDefault(query, Set.of())) {
            Entry entry = entries.get(relation);
            if (entry != null) { // else it was a query, which was dropped before its reader
                entry.readers().remove(query);
            }
        }
        read.remove(query);
    }

    @Override
    public void drop(String name) {
        Entry entry;
        synchronized (this) {
            entry = entry(name);
            if (entry.query()) {
                throw MillraceException.user(SqlState.WRONG_OBJECT_TYPE, "\"" + name + "\" is a query: drop it as one");
            }
            Set<String> readers = readers(entry);
            if (!readers.isEmpty()) {
                throw MillraceException.user(
                        SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                        "cannot drop \"" + name + "\" because " + String.join(", ", readers) + " read it");
            }
            entries.remove(name);
            pasts.remove(name);
        }
        Closing.all(entry.owned());
    }

    @Override
    public Schema schema(String name) {
        return scannable(name).schema();
    }

    @Override
    public synchronized WritableRelation writable(String name) {
        return entry(name)
                .writable()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.WRONG_OBJECT_TYPE,
                        "\"" + name + "\" takes no rows: it is not a stream or table for INSERT"));
    }

    /**
     * Accepts rows of several relations as part of one epoch, or none. Takes the batches over, also when it throws.
     *
     * @param beside what belongs to them
     * @param merge makes one of several domains, which it asks for once nobody else changes them
     * @return the epoch
     */
    public Accepted append(
            Map<WritableRelation, List<Batch>> rows, Beside beside, Consumer<Supplier<Set<EpochDomain>>> merge) {
        try {
            Map<AppendedRelation, List<Batch>> targets = new LinkedHashMap<>();
            rows.forEach((relation, batches) -> targets.put((AppendedRelation) relation, batches));
            targets.forEach(AppendedRelation::checkAll);
            List<EpochInput> inputs =
                    targets.keySet().stream().map(AppendedRelation::input).toList();
            Supplier<Set<EpochDomain>> domains = () -> {
                Set<EpochDomain> found = new LinkedHashSet<>();
                inputs.forEach(input -> found.add(resources.epochs().domainOf(input)));
                return found;
            };
            targets.keySet().forEach(AppendedRelation::waitForRoom);
            Map<AppendedRelation, Optional<Staged>> staged = new LinkedHashMap<>();
            try {
                targets.forEach((relation, batches) -> staged.put(relation, relation.stage(batches)));
                List<Journal.Change> changes = new ArrayList<>();
                targets.forEach((relation, batches) -> changes.addAll(relation.change(batches)));
                beside.mark().ifPresent(mark -> changes.add(new Journal.Change(mark, List.of())));
                try (Journal.Entry entry = resources.epochs().journal().prepare(changes)) {
                    beside.write();
                    return append(targets, staged, inputs, entry, () -> {
                        if (domains.get().size() > 1) {
                            merge.accept(domains);
                        }
                    });
                }
            } catch (RuntimeException | Error e) {
                staged.forEach(AppendedRelation::discard);
                throw e;
            }
        } finally {
            rows.values().forEach(Closing::all);
        }
    }

    private Accepted append(
            Map<AppendedRelation, List<Batch>> targets,
            Map<AppendedRelation, Optional<Staged>> staged,
            List<EpochInput> inputs,
            Journal.Entry entry,
            Runnable mergeDomains) {
        while (true) {
            mergeDomains.run();
            Optional<Accepted> accepted = resources
                    .epochs()
                    .append(
                            inputs,
                            entry,
                            () -> targets.forEach((relation, batches) ->
                                    relation.accept(batches, Objects.requireNonNull(staged.get(relation)))));
            if (accepted.isPresent()) {
                return accepted.get();
            }
            targets.keySet().forEach(AppendedRelation::waitForRoom);
        }
    }

    @Override
    public synchronized List<String> readers(String name) {
        return List.copyOf(readers(entry(name)));
    }

    /** Of groups their members: these have no entries of their own, as there may be very many. */
    private Set<String> readers(Entry entry) {
        Set<String> readers = new LinkedHashSet<>();
        entry.readers().forEach(reader -> readers.addAll(asMembers.apply(reader)));
        return readers;
    }

    /** The same; none where there is no such relation. */
    public synchronized Set<String> readersOf(String name) {
        return Optional.ofNullable(entries.get(name)).map(this::readers).orElse(Set.of());
    }

    @Override
    public synchronized RejectedRecords rejected(String name) {
        return entry(name).rejected().map(RejectedLog::records).orElseGet(() -> new RejectedRecords(0, List.of()));
    }

    /** Drops all, after the queries. */
    @Override
    public void close() {
        List<AutoCloseable> owned = new ArrayList<>();
        synchronized (this) {
            entries.values().forEach(entry -> owned.addAll(entry.owned()));
            entries.clear();
        }
        Closing.all(owned);
    }
}
