package dev.millrace.server.catalog;

import com.google.common.collect.Collections2;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.server.role.Roles;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * All objects by name, and who reads whom. Relations, sinks, templates and functions of a schema share one space of names.
 *
 * <p>Long because objects of all kinds are found here, each by its own question.
 */
public final class DatabaseCatalog implements Catalog {
    /**
     * What has a name.
     *
     * @param since the version from which on its columns are what they are
     */
    private record Held(CatalogObject object, long since) {}

    private final ConcurrentSkipListMap<String, Held> held = new ConcurrentSkipListMap<>();
    private final Collection<CatalogObject> objects = Collections2.transform(held.values(), Held::object);
    private final Map<String, Set<String>> dependents = new ConcurrentHashMap<>();
    private final Map<String, SystemRelation> systemRelations = new ConcurrentSkipListMap<>();
    private final Map<String, UserFunction> functions = new ConcurrentHashMap<>();
    private final Map<String, Index> indexes = new ConcurrentSkipListMap<>();
    private volatile Set<String> schemas = Set.of(); // that users made; another object when they are others
    private final Roles roles = new Roles();
    private final RowNumbers numbers = new RowNumbers();
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private final Comments comments =
            new Comments((on, text) -> listeners.forEach(listener -> listener.commented(on, text)));
    private volatile Map<String, String> serverSettings = Map.of(); // written when a server starts, read by sessions
    private volatile Function<String, Optional<String>> subscribed = name -> Optional.empty(); // written by who opens
    private volatile Function<String, Optional<CatalogObject>> others = name -> Optional.empty(); // likewise
    private volatile References references = new References(-1, Map.of());
    private volatile long ofTables; // grows with each change of tables; written under the database's lock
    private volatile long version; // written under the database's lock, read by the plan cache

    /** Roles, owners and privileges. */
    public Roles roles() {
        return roles;
    }

    /** An object was made, whose it is; others may do with it what its owner's default privileges say. */
    public void made(CatalogObject object, String owner) {
        Optional<String> schema =
                object.kind() == ObjectKind.SCHEMA ? Optional.empty() : Optional.of(schemaOf(object.name()));
        roles.made(object.name(), object.kind(), schema, owner);
    }

    /** Statements that give the objects their owners and privileges; see {@link Roles#privilegeDefinitions}. */
    public List<String> privilegeDefinitions() {
        return roles.privilegeDefinitions(
                name -> object(name).map(object -> object.kind().sqlName()));
    }

    /** Says what a server was started with: values of settings that nobody can change, by name. */
    public void describeServer(Map<String, String> settings) {
        serverSettings = Map.copyOf(settings);
    }

    public Map<String, String> serverSettings() {
        return serverSettings;
    }

    /** Says what durable subscriptions there are. Before anybody asks. */
    public void subscriptions(Function<String, Optional<String>> queryOf) {
        subscribed = queryOf;
    }

    /** Says what else has a name. Before anybody asks. */
    public void others(Function<String, Optional<CatalogObject>> named) {
        others = named;
    }

    /** A durable subscription was made or dropped: what was analysed before may mean another. */
    public void subscriptionsChanged() {
        version++;
    }

    @Override
    public Optional<String> subscribed(String subscription) {
        return subscribed.apply(subscription);
    }

    /** Is told of each change of objects, by the thread that makes it, in the order of the changes. */
    public interface Listener {
        /** An object is there, or is another from now on. */
        void defined(CatalogObject object);

        /** An object is gone. */
        void removed(String name);

        /**
         * Objects have other names, or say others' new names.
         *
         * @param now what they are now, by the names that they had
         */
        default void renamed(Map<String, CatalogObject> now) {
            now.forEach((name, object) -> {
                if (!name.equals(object.name())) {
                    removed(name);
                }
            });
            now.values().forEach(this::defined);
        }

        /** Somebody says something of a thing, or, without a text, nothing any more; what is removed has no comment any more, which is not told. */
        default void commented(Commented on, Optional<String> text) {}
    }

    public void addListener(Listener listener) {
        listeners.add(listener);
    }

    /** Makes a relation that the engine computes about itself known. */
    public void add(SystemRelation relation) {
        systemRelations.put(relation.name(), relation);
    }

    /** Adds an object whose name is free. */
    public void add(CatalogObject object) {
        Held before = held.putIfAbsent(object.name(), new Held(object, version + 1));
        assert before == null : object.name() + " exists";
        if (object.kind() == ObjectKind.SCHEMA) {
            findSchemas();
        }
        for (String read : object.requires()) {
            dependents
                    .computeIfAbsent(read, name -> new ConcurrentSkipListSet<>())
                    .add(object.name());
        }
        ofTables += object.kind() == ObjectKind.TABLE ? 1 : 0;
        version++;
        listeners.forEach(listener -> listener.defined(object));
    }

    /** Puts an object in the place of another of its name, whose dependents become its own. */
    public void replace(CatalogObject object) {
        Held was = Objects.requireNonNull(held.get(object.name()), object.name());
        CatalogObject before = was.object();
        held.put(object.name(), new Held(object, object.schema().equals(before.schema()) ? was.since() : version + 1));
        for (String read : before.requires()) {
            dependents.getOrDefault(read, Set.of()).remove(object.name());
        }
        for (String read : object.requires()) {
            dependents
                    .computeIfAbsent(read, name -> new ConcurrentSkipListSet<>())
                    .add(object.name());
        }
        ofTables += object.kind() == ObjectKind.TABLE ? 1 : 0;
        version++;
        listeners.forEach(listener -> listener.defined(object));
        comments.retain(object);
    }

    /**
     * Makes a change of a relation's columns: from its begin to its end, and for whoever began before its end, they are not
     * {@link #isAsOf what they were}.
     */
    public void altering(String name, Runnable change) {
        Held before = held.get(name);
        since(name, Long.MAX_VALUE);
        try {
            change.run(); // which replaces the object
        } finally {
            Held now = held.get(name);
            if (before != null && now != null && now.since() == Long.MAX_VALUE) { // it failed
                since(name, before.since());
            }
        }
    }

    private void since(String name, long from) {
        held.computeIfPresent(name, (same, now) -> new Held(now.object(), from));
    }

    /** Whether a relation's columns are still those that it had under a version, or it is none of the catalog. */
    public boolean isAsOf(String name, long seen) {
        Held now = held.get(name);
        return now == null || now.since() <= seen;
    }

    /** Adds a function, whose name is free, with what calls need to know. */
    public void add(CatalogObject object, UserFunction function) {
        functions.put(function.name(), function);
        add(object);
    }

    /** Adds an index, whose name is free. */
    public void add(CatalogObject object, Index index) {
        indexes.put(index.name(), index);
        add(object);
    }

    public Optional<Index> index(String name) {
        return Optional.ofNullable(indexes.get(name));
    }

    /** The indexes that were created on a relation, by name. */
    public List<Index> indexes(String relation) {
        return indexes.values().stream()
                .filter(index -> index.relation().equals(relation))
                .toList();
    }

    /**
     * An object out of the catalog, as it was in it.
     *
     * @param numbers the last that its columns were given
     * @param comments on it and its parts
     */
    public record TakenOut(
            CatalogObject object,
            Optional<UserFunction> function,
            Optional<Index> index,
            Map<String, Long> numbers,
            Map<Commented, String> comments) {}

    /** Takes an object out that nothing depends on, to be {@linkplain #putBack put back} or forgotten. */
    public TakenOut takeOut(String name) {
        TakenOut taken = new TakenOut(
                object(name).orElseThrow(), userFunction(name), index(name), numbers.last(name), comments.about(name));
        remove(name);
        return taken;
    }

    /** The object is there again, whose name is free. */
    public void putBack(TakenOut taken) {
        String name = taken.object().name();
        taken.function().ifPresent(function -> functions.put(name, function));
        taken.index().ifPresent(index -> indexes.put(name, index));
        numbers.restore(name, taken.numbers());
        add(taken.object());
        comments.putAll(taken.comments());
    }

    /**
     * Gives objects other names, and has all that read them say these, all at once.
     *
     * @param now what they are from now on, by the names that they have; each after what it reads
     * @param moved indexes among them, likewise
     */
    public void rename(Map<String, CatalogObject> now, Map<String, Index> moved) {
        Map<String, Map<String, Long>> counted = new HashMap<>();
        now.keySet().forEach(name -> {
            counted.put(name, numbers.last(name));
            Objects.requireNonNull(held.get(name))
                    .object()
                    .requires()
                    .forEach(read -> dependents.getOrDefault(read, Set.of()).remove(name));
        });
        Set<String> names = now.values().stream().map(CatalogObject::name).collect(Collectors.toSet());
        version++;
        now.values().forEach(object -> held.put(object.name(), new Held(object, version)));
        now.keySet().stream().filter(name -> !names.contains(name)).forEach(name -> {
            held.remove(name);
            dependents.remove(name);
        });
        now.values()
                .forEach(object -> object.requires()
                        .forEach(read -> dependents
                                .computeIfAbsent(read, name -> new ConcurrentSkipListSet<>())
                                .add(object.name())));
        moved.keySet().forEach(indexes::remove);
        moved.values().forEach(index -> indexes.put(index.name(), index));
        now.forEach((name, object) -> {
            if (!name.equals(object.name())) {
                numbers.forget(name);
            }
        });
        now.forEach((name, object) -> {
            if (!name.equals(object.name())) {
                numbers.restore(object.name(), Objects.requireNonNull(counted.get(name)));
            }
        });
        findSchemas();
        ofTables++;
        version++;
        listeners.forEach(listener -> listener.renamed(now));
        comments.rename(now);
    }

    /** Gives an object other rules, which come from other objects: its own definition stays. */
    public void replaceRules(CatalogObject object) {
        held.computeIfPresent(object.name(), (name, before) -> new Held(object, before.since()));
        ofTables++;
        version++;
    }

    @Override
    public Optional<UserFunction> userFunction(String name) {
        return Optional.ofNullable(functions.get(RelationNames.inCatalog(name)));
    }

    @Override
    public Optional<String> viewQuery(String name) {
        return object(name).filter(object -> object.kind() == ObjectKind.VIEW).map(CatalogObject::queryText);
    }

    @Override
    public PlainNumeric numericIn(String relation) {
        return object(relation).map(CatalogObject::numeric).orElse(PlainNumeric.UNLIMITED);
    }

    @Override
    public Optional<String> nextValue(String relation, String column) {
        return object(relation)
                .flatMap(object -> object.rules().of(column))
                .map(rule -> numbers.value(relation, column, rule));
    }

    /** What is said of the objects. */
    public Comments comments() {
        return comments;
    }

    /** The numbers of columns that count. */
    public RowNumbers numbers() {
        return numbers;
    }

    /** Takes an object out that nothing depends on. */
    public void remove(String name) {
        assert dependents(name).isEmpty() : name + " is still read";
        CatalogObject object = held.remove(name).object();
        if (object.kind() == ObjectKind.SCHEMA) {
            findSchemas();
        }
        functions.remove(name);
        indexes.remove(name);
        numbers.forget(name);
        comments.forget(name);
        for (String read : object.requires()) {
            Set<String> readers = dependents.get(read);
            if (readers != null) {
                readers.remove(name);
            }
        }
        dependents.remove(name);
        ofTables += object.kind() == ObjectKind.TABLE ? 1 : 0;
        version++;
        listeners.forEach(listener -> listener.removed(name));
    }

    /** Foreign keys by the tables that they reference, under a version of the catalog's tables. */
    private record References(long version, Map<String, List<Reference>> byTable) {}

    /** The foreign keys of all tables that reference a table, its own among them. */
    public List<Reference> referencesTo(String table) {
        References known = references;
        long now = ofTables;
        if (known.version() != now) {
            known = new References(
                    now,
                    objects.stream()
                            .filter(object -> object.kind() == ObjectKind.TABLE)
                            .flatMap(object ->
                                    object.rules().foreignKeys().stream().map(key -> new Reference(object.name(), key)))
                            .collect(Collectors.groupingBy(
                                    reference -> reference.key().table())));
            references = known;
        }
        return known.byTable().getOrDefault(table, List.of());
    }

    /** Whether a table has foreign keys, or others reference it. */
    public boolean hasReferences(String table) {
        Held of = held.get(table);
        return of != null && !of.object().rules().foreignKeys().isEmpty()
                || !referencesTo(table).isEmpty();
    }

    /** Grows with each change: what was planned under another version may name what is gone. */
    public long version() {
        return version;
    }

    /** The object of this name, or what is read as one: a query of a template. */
    public Optional<CatalogObject> object(String name) {
        Held found = held.get(name);
        return found == null ? others.apply(name) : Optional.of(found.object());
    }

    private void findSchemas() {
        schemas = objects(ObjectKind.SCHEMA).stream()
                .map(schema -> RelationNames.shown(schema.name()))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The schemas that users made; the same object as long as they are the same. */
    public Set<String> schemas() {
        return schemas;
    }

    @Override
    public boolean isSchema(String name) {
        return RelationNames.isAlwaysThere(name) || schemas.contains(name);
    }

    /**
     * Whatever is to have a name needs its schema.
     *
     * @throws MillraceException 3F000
     */
    public void requireSchema(String name) {
        String schema = RelationNames.prefix(name);
        if (!schema.isEmpty() && !RelationNames.isOfSession(name) && !isSchema(schema)) {
            throw undefinedSchema(schema);
        }
    }

    /** The error for a schema that is not there. */
    public static MillraceException undefinedSchema(String schema) {
        return MillraceException.user(SqlState.INVALID_SCHEMA_NAME, "schema \"" + schema + "\" does not exist");
    }

    /** Whether a name is in a schema of the system, where users make nothing. */
    public static boolean isOfSystem(String name) {
        return RelationNames.isOfSystem(RelationNames.prefix(name));
    }

    /** Whether nothing has this name, and something may. */
    public boolean isFree(String name) {
        return !isOfSystem(name) && object(name).isEmpty();
    }

    /**
     * The object of this name and kind, or an error that says what the name is instead or what was likely meant. VIEW may be
     * said of a materialized view.
     */
    public CatalogObject require(ObjectKind kind, String name) {
        CatalogObject object =
                Optional.ofNullable(held.get(name)).map(Held::object).orElse(null);
        if (object == null && kind == ObjectKind.SCHEMA) {
            throw undefinedSchema(RelationNames.shown(name));
        }
        if (object == null) {
            throw undefined(kind.sqlName(), name, names(kind));
        }
        boolean isViewToo = kind == ObjectKind.VIEW && object.kind() == ObjectKind.MATERIALIZED_VIEW;
        if (object.kind() != kind && !isViewToo) {
            throw MillraceException.user(
                    SqlState.WRONG_OBJECT_TYPE,
                    "\"" + name + "\" is " + withArticle(object.kind()) + ", not " + withArticle(kind));
        }
        return object;
    }

    private static String withArticle(ObjectKind kind) {
        return (kind == ObjectKind.INDEX ? "an " : "a ") + kind.sqlName();
    }

    /** The error for a name that is not there. */
    public static MillraceException undefined(String kind, String name, Collection<String> candidates) {
        MillraceException error =
                MillraceException.user(SqlState.UNDEFINED_TABLE, kind + " \"" + name + "\" does not exist");
        return Suggestion.nearest(name, candidates)
                .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                .orElse(error);
    }

    /** All objects of a kind, by name. */
    public List<CatalogObject> objects(ObjectKind kind) {
        return objects.stream().filter(object -> object.kind() == kind).toList();
    }

    /** All objects, by name. */
    public Collection<CatalogObject> objects() {
        return objects;
    }

    public Collection<SystemRelation> systemRelations() {
        return systemRelations.values();
    }

    public Optional<SystemRelation> systemRelation(String name) {
        return Optional.ofNullable(systemRelations.get(name));
    }

    private List<String> names(ObjectKind kind) {
        return objects(kind).stream().map(CatalogObject::name).toList();
    }

    /** Names of the objects that read this one directly, sorted. */
    public Set<String> dependents(String name) {
        return dependents.getOrDefault(name, Set.of());
    }

    /** The object itself last, before it all that depend on it, each after what depends on it in turn: the order of DROP. */
    public List<String> withDependents(String name) {
        Set<String> order = new LinkedHashSet<>();
        collect(name, order);
        return new ArrayList<>(order);
    }

    private void collect(String name, Set<String> order) {
        for (String dependent : dependents(name)) {
            collect(dependent, order);
        }
        order.add(name);
    }

    @Override
    public Optional<Relation> relation(String name) {
        Optional<CatalogObject> object = object(name);
        if (object.isPresent()) {
            return object.get().relation();
        }
        return system(name);
    }

    /** The system's relation of a name, which may leave {@code pg_catalog} and {@code rw_catalog} out. */
    public Optional<Relation> system(String name) {
        return systemRelation(name)
                .or(() -> systemRelation("pg_catalog." + name))
                .or(() -> systemRelation("rw_catalog." + name))
                .map(system -> new Relation(
                        system.name(), Relation.Kind.SYSTEM_VIEW, system.schema(), false, List.of(), Optional.empty()));
    }

    @Override
    public Collection<String> relationNames() {
        List<String> names = new ArrayList<>(held.keySet());
        names.removeIf(RelationNames::isSchema);
        names.addAll(systemRelations.keySet());
        return names;
    }
}
