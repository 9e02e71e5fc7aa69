package dev.millrace.server.ddl;

import dev.millrace.connector.SinkStatus;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Reference;
import dev.millrace.server.instance.CatalogStore.NotRestored;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** DROP, and what has to be gone before something else takes its name. */
public final class Drops {
    private final Instance database;
    private final Consumer<String> notices;
    private final Indexes indexes;
    private final HeldDefinitions held;

    public Drops(Instance database, Consumer<String> notices, Indexes indexes, HeldDefinitions held) {
        this.database = database;
        this.notices = notices;
        this.indexes = indexes;
        this.held = held;
    }

    public Command drop(Statement.Drop drop) {
        database.lockDefinitions();
        try {
            List<String> present = new ArrayList<>();
            for (String name : drop.names()) {
                if (database.catalog().object(name).isEmpty() && giveUp(name)) {
                    continue;
                }
                if (drop.ifExists() && database.catalog().object(name).isEmpty()) {
                    notices.accept(drop.kind().sqlName() + " \"" + name + "\" does not exist, skipping");
                } else {
                    if (drop.kind() == ObjectKind.INDEX
                            && database.catalog().object(name).isEmpty()) {
                        throw Indexes.undefined(name);
                    }
                    present.add(database.catalog().require(drop.kind(), name).name());
                }
            }
            List<String> gone = all(present, drop.cascade());
            gone.forEach(database.catalog().roles()::forget);
            return Command.of("DROP " + drop.kind().sqlName().toUpperCase(Locale.ROOT));
        } finally {
            database.definitionLock().unlock();
        }
    }

    /** Drops what could not be made again; false if there is no such object. */
    private boolean giveUp(String name) {
        Map<String, NotRestored> all = database.catalogStore().notRestored();
        NotRestored lost = all.get(name);
        boolean isLost = database.catalogStore().giveUp(name);
        if (lost != null && isLost) {
            held.step(() -> all.put(name, lost), () -> {});
        }
        return isLost;
    }

    /** Drops objects, and with CASCADE what reads them; returns the names of all that are gone. */
    List<String> all(List<String> names, boolean cascade) {
        Set<String> order = new LinkedHashSet<>();
        names.forEach(name -> order.addAll(database.catalog().withDependents(name)));
        if (!cascade) {
            for (String name : names) {
                List<String> others = database.catalog().dependents(name).stream()
                        .filter(dependent -> !names.contains(dependent))
                        .toList();
                if (!others.isEmpty()) {
                    throw dependentsExist(name, others);
                }
            }
        }
        List<String> windows = addWindows(order, cascade);
        List<Reference> references = references(order, cascade);
        if (!cascade) {
            order.forEach(this::requireNoSubscription);
        }
        order.forEach(name -> requireNoFollower(name, order));
        for (String name : order) {
            database.histories()
                    .to(name)
                    .forEach(each -> notices.accept("drop cascades to subscription \"" + each + "\""));
        }
        if (order.stream().anyMatch(name -> !database.histories().to(name).isEmpty())) {
            held.requireOutside("DROP of what has subscriptions");
        }
        if (database.histories().forget(order)) {
            database.changesLogs();
        }
        references.forEach(reference -> notices.accept("drop cascades to " + ForeignKeys.describe(reference)));
        new ForeignKeys(database).drop(references, indexes, held);
        for (String name : order) {
            if (!names.contains(name) && !windows.contains(name)) {
                notices.accept("drop cascades to " + describe(name));
            }
            dropOne(database.catalog().object(name).orElseThrow());
        }
        return List.copyOf(order);
    }

    /** Foreign keys of tables that stay, to tables that go, which CASCADE drops. */
    private List<Reference> references(Set<String> order, boolean cascade) {
        List<Reference> all = new ArrayList<>();
        for (String name : order) {
            List<Reference> ofOthers = database.catalog().referencesTo(name).stream()
                    .filter(reference -> !order.contains(reference.table()))
                    .toList();
            if (!cascade && !ofOthers.isEmpty()) {
                throw ForeignKeys.stillReferenced("drop", describe(name), ofOthers);
            }
            all.addAll(ofOthers);
        }
        return all;
    }

    /** Adds the streams of partial aggregates of queries that go, and what else reads these; returns those streams. */
    private List<String> addWindows(Set<String> order, boolean cascade) {
        EdgeWindowStreams streams = new EdgeWindowStreams(database);
        List<String> windows = streams.of(order);
        while (!order.containsAll(windows)) {
            for (String stream : windows) {
                List<String> others = database.catalog().dependents(stream).stream()
                        .filter(dependent -> !order.contains(dependent))
                        .toList();
                if (!cascade && !others.isEmpty()) {
                    throw dependentsExist(stream, others);
                }
                order.addAll(database.catalog().withDependents(stream)); // itself behind those
            }
            windows = streams.of(order);
        }
        return windows;
    }

    private MillraceException dependentsExist(String name, List<String> dependents) {
        String list = String.join(", ", dependents.stream().map(this::describe).toList());
        return MillraceException.user(
                        SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                        "cannot drop " + describe(name) + " because other objects depend on it: " + list)
                .withHint("use DROP ... CASCADE to drop the dependent objects too");
    }

    private void requireNoSubscription(String name) {
        List<String> to = database.histories().to(name);
        if (!to.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot drop " + describe(name) + " because other objects depend on it: subscription \""
                                    + String.join("\", subscription \"", to) + "\"")
                    .withHint("use DROP ... CASCADE to drop the dependent objects too");
        }
    }

    /** Before anything is gone: what a session follows by a query of its own is no object, and nothing that CASCADE drops. */
    private void requireNoFollower(String name, Set<String> going) {
        ObjectKind kind = database.catalog().object(name).orElseThrow().kind();
        if ((kind != ObjectKind.STREAM && kind != ObjectKind.TABLE)
                || database.standing(name).isPresent()) {
            return;
        }
        List<String> followers = database.engine().relations().readers(name).stream()
                .filter(reader -> !going.contains(reader) && Instance.isSubscription(reader))
                .toList();
        if (!followers.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "cannot drop " + describe(name) + " because " + String.join(", ", followers) + " read it")
                    .withHint("they are queries of SUBSCRIBE statements under way: pg_stat_activity shows whose");
        }
    }

    public String describe(String name) {
        return database.catalog().object(name).orElseThrow().kind().sqlName() + " \"" + RelationNames.shown(name)
                + "\"";
    }

    /** Takes an object back that was made just now, and that nothing reads yet; one that is not there any more is gone. */
    public void takeBack(String name) {
        database.catalog().object(name).ifPresent(object -> {
            dropNow(object);
            database.catalog().roles().forget(name);
        });
    }

    private void tellOfUndelivered(CatalogObject object, SinkStatus sink) {
        if (sink.waiting() > 0) {
            notices.accept("sink \"" + object.name() + "\" throws " + sink.waiting() + " records away that "
                    + sink.target() + " has not got");
        }
    }

    private void dropOne(CatalogObject object) {
        if (object.kind() == ObjectKind.INDEX) {
            indexes.drop(database.catalog().index(object.name()).orElseThrow());
            return;
        }
        if (object.kind() == ObjectKind.SINK) {
            database.standing(object.name())
                    .ifPresent(query -> query.statistics().sinks().forEach(sink -> tellOfUndelivered(object, sink)));
        }
        if (held.areHeld()) {
            setAside(object);
        } else {
            dropNow(object);
        }
    }

    /** It goes when the transaction ends. */
    private void setAside(CatalogObject object) {
        String name = object.name();
        object.rules().foreignKeys().forEach(key -> held.changed(key.table())); // which may be there again
        boolean isPlainTable = held.isPlainTable(object);
        indexes.takeOut(name);
        held.absorbed(name);
        SetAside aside = new SetAside(database, object, isPlainTable, held.taken());
        held.step(aside::putBack, aside::free);
        held.changed(name);
        if (!isPlainTable && !HeldDefinitions.keepsNothing(object)) {
            held.takes(name);
        }
    }

    private void dropNow(CatalogObject object) {
        String name = object.name();
        if (object.kind() == ObjectKind.INDEX) {
            indexes.drop(database.catalog().index(name).orElseThrow());
            return;
        }
        indexes.forget(name).forEach(database.catalog().roles()::forget);
        free(database, object, Optional.ofNullable(database.queries().remove(name)));
        TableKeys keys = database.tableKeys().remove(name);
        if (keys != null) {
            keys.close();
        }
        database.catalog().remove(name);
    }

    /** Stops a query, or frees the rows of what is none. */
    static void free(Instance database, CatalogObject object, Optional<StandingQuery> query) {
        String name = object.name();
        if (query.isPresent()) {
            query.get().drop();
            new Starts(database).forget(name, query.get());
            database.retained().drop(name);
        } else if (object.kind() != ObjectKind.FUNCTION
                && object.kind() != ObjectKind.VIEW
                && object.kind() != ObjectKind.SCHEMA) {
            database.engine().relations().drop(name);
            database.intakes().drop(name);
            database.retained().drop(name);
        }
        database.replacements().forget(name);
        database.feeds().drop(name);
    }
}
