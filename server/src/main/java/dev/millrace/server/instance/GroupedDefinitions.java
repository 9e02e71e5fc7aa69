package dev.millrace.server.instance;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.group.KnownQuery;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Makes queries whose forms are known: members of their groups. Those that sessions want at the same time are made together, by the session that has the lock of definitions next, and
 * kept in one record, so that they wait for the disk once.
 *
 * <pre>
 *   session: waits in the queue -> has the lock -> is it made by now?  yes: answers
 *                                                  no: makes all that wait, writes the record, and takes back what could not be kept
 * </pre>
 *
 * Whether a role may make a query, and may make as many, is for the session to ask. Safe on any thread.
 */
public final class GroupedDefinitions {
    private static final int MOST = 256; // in a record

    private final Instance database;
    private final Queue<Wanted> waiting = new ConcurrentLinkedQueue<>();

    /** A query that a session waits for; all but what is final with the lock of definitions held. */
    private static final class Wanted {
        private final KnownQuery query;
        private final String owner;
        private boolean isDone;
        private Optional<StandingQuery> made = Optional.empty();
        private Optional<MillraceException> failure = Optional.empty();

        Wanted(KnownQuery query, String owner) {
            this.query = query;
            this.owner = owner;
        }
    }

    GroupedDefinitions(Instance database) {
        this.database = database;
    }

    /**
     * Makes a query; when this returns, it is on disk.
     *
     * @param owner whose it is
     * @return empty if it has to be made by its text: its name is not free, its group takes no more, or its stream is another. Nothing was done then
     * @throws MillraceException 53100 or 58030 if it cannot be kept, or why the statement was stopped: it is not there then
     */
    public Optional<StandingQuery> make(KnownQuery query, String owner) {
        Wanted wanted = new Wanted(query, owner);
        waiting.add(wanted);
        lock(wanted);
        try (Interrupt.Binding others = Interrupt.shield()) {
            while (!wanted.isDone) {
                makeAll(next());
            }
        } finally {
            database.definitionLock().unlock();
        }
        if (wanted.failure.isPresent()) {
            throw wanted.failure.get();
        }
        return wanted.made;
    }

    /** Who is stopped while somebody else makes what it wants hears what became of that. */
    private void lock(Wanted wanted) {
        try {
            database.lockDefinitions();
        } catch (MillraceException e) {
            if (waiting.remove(wanted)) {
                throw e;
            }
            database.definitionLock().lock();
        }
    }

    private List<Wanted> next() {
        List<Wanted> next = new ArrayList<>();
        for (Wanted first = waiting.poll(); first != null; first = next.size() < MOST ? waiting.poll() : null) {
            next.add(first);
        }
        return next;
    }

    private void makeAll(List<Wanted> all) {
        List<Wanted> made = new ArrayList<>();
        try {
            for (Wanted wanted : all) {
                try {
                    wanted.made = made(wanted.query, wanted.owner);
                    wanted.made.ifPresent(query -> made.add(wanted));
                } catch (MillraceException e) {
                    wanted.failure = Optional.of(e);
                }
            }
            keep(made);
        } catch (RuntimeException | Error e) {
            MillraceException why = MillraceException.internal("internal error: " + e, e);
            all.forEach(wanted -> wanted.failure = Optional.of(why.again()));
            throw e;
        } finally {
            all.forEach(wanted -> wanted.isDone = true);
        }
    }

    private Optional<StandingQuery> made(KnownQuery query, String owner) {
        DatabaseCatalog catalog = database.catalog();
        CatalogStore store = database.catalogStore();
        String name = query.name();
        boolean isAsKnown = query.form().isCurrent(catalog)
                && store.isPlannedAs(query.form().basis())
                && catalog.isFree(name)
                && database.histories().queryOf(name).isEmpty();
        Optional<StandingQuery> member = isAsKnown
                ? database.groups().join(name, query.form().group(), query.literals())
                : Optional.empty();
        member.ifPresent(standing -> {
            database.queries().put(name, standing);
            store.plannedBy(name, query.form().basis());
            catalog.add(query.object(store.creationMicros()));
            catalog.roles().setOwner(name, owner);
        });
        return member;
    }

    private void keep(List<Wanted> made) {
        if (made.isEmpty()) {
            return;
        }
        database.catalogStore()
                .keep(made.get(0).query.form().statement(), true, record -> false)
                .ifPresent(failure -> {
                    failure.made().forEach(this::takeBack);
                    made.forEach(wanted -> wanted.failure = Optional.of(failure.why().again()));
                });
        database.histories().definitionsAreKept();
    }

    private void takeBack(String name) {
        Optional.ofNullable(database.queries().remove(name)).ifPresent(StandingQuery::drop);
        database.catalog().remove(name);
        database.catalog().roles().forget(name);
    }
}
