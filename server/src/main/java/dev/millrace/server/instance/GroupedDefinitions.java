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
 * Makes queries whose forms are known: members of their groups. Those that sessions want at the same time, and those that a client sent one behind
 * the other, are made together, by the
 * session that has the lock of definitions next, and kept in one record, so that they wait for the disk once.
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
        private final Optional<Wanted> before; // of the same session, without which it is not made
        private boolean isDone;
        private Optional<StandingQuery> made = Optional.empty();
        private Optional<MillraceException> failure = Optional.empty();

        Wanted(KnownQuery query, String owner, Optional<Wanted> before) {
            this.query = query;
            this.owner = owner;
            this.before = before;
        }
    }

    GroupedDefinitions(Instance database) {
        this.database = database;
    }

    /**
     * What became of a query: it is there and on disk, or is not as it could not be kept (53100 or 58030), or, if it is neither, has to be made by
     * its text. Nothing was done then.
     */
    public record Outcome(Optional<StandingQuery> made, Optional<MillraceException> failure) {}

    /**
     * Makes queries, one after the other, up to the first whose name is not free, whose group takes no more, or whose stream is another. When this returns, they are on disk.
     *
     * @param owner whose they are
     * @return of each
     * @throws MillraceException why the statement was stopped: none of them is there then
     */
    public List<Outcome> make(List<KnownQuery> queries, String owner) {
        List<Wanted> wanted = new ArrayList<>();
        for (KnownQuery query : queries) {
            Optional<Wanted> before = wanted.isEmpty() ? Optional.empty() : Optional.of(wanted.get(wanted.size() - 1));
            wanted.add(new Wanted(query, owner, before));
        }
        waiting.addAll(wanted);
        lock(wanted);
        try (Interrupt.Binding others = Interrupt.shield()) {
            while (!wanted.stream().allMatch(each -> each.isDone)) {
                makeAll(next());
            }
        } finally {
            database.definitionLock().unlock();
        }
        return wanted.stream().map(each -> new Outcome(each.made, each.failure)).toList();
    }

    /** Who is stopped while somebody else makes what it wants hears what became of that. */
    private void lock(List<Wanted> wanted) {
        try {
            database.lockDefinitions();
        } catch (MillraceException e) {
            List<Wanted> left = wanted.stream().filter(waiting::remove).toList();
            if (left.size() == wanted.size()) {
                throw e;
            }
            database.definitionLock().lock();
            left.forEach(each -> each.isDone = true);
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
                    boolean isNext =
                            wanted.before.filter(first -> first.made.isEmpty()).isEmpty();
                    wanted.made = isNext ? made(wanted.query, wanted.owner) : Optional.empty();
                    wanted.made.ifPresent(query -> made.add(wanted));
                } catch (MillraceException e) {
                    wanted.failure = Optional.of(e);
                }
            }
            keep(made);
        } catch (RuntimeException | Error e) {
            MillraceException why = MillraceException.internal("internal error: " + e, e);
            all.forEach(wanted -> wanted.failure = Optional.of(why.again()));
            all.forEach(wanted -> wanted.made = Optional.empty());
            throw e;
        } finally {
            all.forEach(wanted -> wanted.isDone = true);
        }
    }

    private Optional<StandingQuery> made(KnownQuery query, String owner) {
        DatabaseCatalog catalog = database.catalog();
        CatalogStore store = database.catalogStore();
        String name = query.name();
        boolean isAsKnown = !database.uncommitted().areThere() // whose end is waited for with the text
                && query.form().isCurrent(catalog)
                && store.isPlannedAs(query.form().basis())
                && catalog.isFree(name)
                && database.histories().queryOf(name).isEmpty();
        Optional<StandingQuery> member = isAsKnown
                ? database.groups()
                        .join(name, query.form().group(), query.form().how(), query.literals())
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
                    made.forEach(
                            wanted -> wanted.failure = Optional.of(failure.why().again()));
                    made.forEach(wanted -> wanted.made = Optional.empty());
                });
        database.histories().definitionsAreKept();
    }

    private void takeBack(String name) {
        Optional.ofNullable(database.queries().remove(name)).ifPresent(StandingQuery::drop);
        database.catalog().remove(name);
        database.catalog().roles().forget(name);
    }
}
