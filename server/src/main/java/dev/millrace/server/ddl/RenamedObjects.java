package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Objects under other names, and what depends on them, as the catalog has them and is to have them: each behind what it reads. With the lock of
 * definitions held.
 */
final class RenamedObjects {
    private static final String ANEW = "DROP it, and CREATE it again behind this; or give there what is read an alias";

    private final Instance database;
    private final Indexes indexes;
    private final Map<String, String> names;
    private final Consumer<String> notices;
    private final Map<String, CatalogObject> before = new LinkedHashMap<>();
    private final Map<String, CatalogObject> now = new LinkedHashMap<>(); // by the names that they have
    private final Map<String, Index> indexesBefore = new HashMap<>();

    /**
     * @param names the new ones, by those in the catalog
     * @throws MillraceException 0A000 where a text cannot say them
     */
    RenamedObjects(Instance database, Indexes indexes, Map<String, String> names, Consumer<String> notices) {
        this.database = database;
        this.indexes = indexes;
        this.names = names;
        this.notices = notices;
        for (String name : inOrder()) {
            CatalogObject object = object(name);
            before.put(name, object);
            now.put(name, renamed(object));
            catalog().index(name).ifPresent(index -> indexesBefore.put(name, index));
        }
    }

    /** What they are to be, by the names that they have. */
    Map<String, CatalogObject> now() {
        return now;
    }

    /** What they have been, by the names that they have then. */
    Map<String, CatalogObject> back() {
        Map<String, CatalogObject> back = new LinkedHashMap<>();
        before.forEach((name, object) -> back.put(newName(name), object));
        return back;
    }

    /** The names of those that are others. */
    List<String> changed() {
        return before.keySet().stream()
                .filter(name -> before.get(name) != now.get(name))
                .toList();
    }

    /** The indexes among them, as {@link #now}. */
    Map<String, Index> indexesNow() {
        Map<String, Index> moved = new HashMap<>();
        indexesBefore.forEach((name, index) -> moved.put(name, renamed(index)));
        return moved;
    }

    /** The same as {@link #back}. */
    Map<String, Index> indexesBack() {
        Map<String, Index> back = new HashMap<>();
        indexesBefore.forEach((name, index) -> back.put(newName(name), index));
        return back;
    }

    private DatabaseCatalog catalog() {
        return database.catalog();
    }

    private String newName(String name) {
        return Objects.requireNonNull(now.get(name)).name();
    }

    private CatalogObject object(String name) {
        return catalog().object(name).orElseThrow();
    }

    /** @throws MillraceException 0A000 for what a query template is made of */
    static void requireNoTemplate(Instance database, CatalogObject object) {
        boolean isOfTemplate = object.options().containsKey(TemplateQueries.OPTION)
                || database.templates().templates().stream()
                        .anyMatch(template ->
                                TemplateQueries.answersOf(template.name()).equals(object.name()));
        if (isOfTemplate) {
            throw MillraceException.notAvailableYet("another name of what query template \""
                            + RelationNames.shown(object.name()) + "\" is, or reads")
                    .withHint("DROP QUERY TEMPLATE, and CREATE it again");
        }
    }

    /** These and all that depends on them, as they would be made one after the other. */
    private Set<String> inOrder() {
        Set<String> toDrop = new LinkedHashSet<>();
        for (String name : names.keySet()) {
            if (catalog().index(name).isEmpty()) {
                toDrop.addAll(catalog().withDependents(name));
            }
        }
        List<String> toMake = new ArrayList<>(toDrop);
        Collections.reverse(toMake);
        Set<String> order = new LinkedHashSet<>();
        for (String name : toMake) {
            order.add(name);
            catalog().indexes(name).forEach(index -> order.add(index.name()));
        }
        for (String name : List.copyOf(order)) { // those whose foreign keys say the names
            catalog().referencesTo(name).forEach(reference -> order.add(reference.table()));
        }
        return order;
    }

    private CatalogObject renamed(CatalogObject object) {
        String name = names.getOrDefault(object.name(), object.name());
        Optional<Index> index = catalog().index(object.name()).filter(of -> names.containsKey(of.relation()));
        if (index.isPresent()) {
            Index moved = renamed(index.get());
            String definition = moved.definition(object(index.get().relation()).schema());
            return object.renamed(name, object.reads(), definition, object.rules());
        }
        boolean isSame = name.equals(object.name())
                && Collections.disjoint(object.requires(), names.keySet())
                && object.rules().foreignKeys().stream().noneMatch(key -> names.containsKey(key.table()));
        if (isSame) {
            return object;
        }
        requireNoTemplate(database, object);
        Set<String> reads = object.reads().stream()
                .map(read -> names.getOrDefault(read, read))
                .collect(Collectors.toSet());
        return object.renamed(name, reads, definition(object, name), renamed(object.rules()));
    }

    private Index renamed(Index index) {
        return new Index(
                names.getOrDefault(index.name(), index.name()),
                names.getOrDefault(index.relation(), index.relation()),
                index.method(),
                index.unique(),
                index.keys());
    }

    /** Unique indexes are in the rules of their table, by their names. */
    private TableRules renamed(TableRules rules) {
        return rules.withForeignKeys(foreignKeys(rules))
                .withUniques(rules.uniques().stream()
                        .map(unique -> catalog().index(unique.name()).isPresent()
                                ? new TableRules.Unique(
                                        names.getOrDefault(unique.name(), unique.name()), unique.columns())
                                : unique)
                        .toList());
    }

    private List<ForeignKey> foreignKeys(TableRules rules) {
        return rules.foreignKeys().stream()
                .map(key -> key.withTable(names.getOrDefault(key.table(), key.table())))
                .toList();
    }

    private String definition(CatalogObject object, String name) {
        if (object.kind() == ObjectKind.SCHEMA) {
            return CatalogObject.schema(RelationNames.shown(name), 0).definition();
        }
        if (object.kind() == ObjectKind.TABLE) { // in which constraints say their names, which stay
            CatalogObject own = indexes.withoutIndexes(object);
            return TableShape.textOf(TableAlterations.definitionOf(own.renamed(
                    name, own.reads(), own.definition(), own.rules().withForeignKeys(foreignKeys(own.rules())))));
        }
        try (PlainNumeric.Binding meaning = object.numeric().bind()) {
            return database.frontend()
                    .renamed(
                            database.frontend().parse(object.definition()).get(0),
                            catalog(),
                            names,
                            Optional.of(name).filter(other -> !other.equals(object.name())));
        } catch (MillraceException e) {
            throw e.sqlState() == SqlState.FEATURE_NOT_SUPPORTED ? e : says(object, ANEW);
        }
    }

    private Statement analyzed(String text, Catalog in) {
        return database.frontend().analyze(database.frontend().parse(text).get(0), in, Parameters.none());
    }

    // ---- whether they mean the same --------------------------------------------------------------------------------

    /** @throws MillraceException 0A000 where a text would mean another then, or nothing */
    void requireSameMeaning() {
        Catalog then = new RenamedCatalog(catalog(), now);
        before.forEach((name, object) -> {
            CatalogObject other = Objects.requireNonNull(now.get(name));
            boolean isBound = object.kind() != ObjectKind.SCHEMA && object.kind() != ObjectKind.INDEX;
            if (isBound && other != object && !meansTheSame(object, other, then)) {
                throw says(object, ANEW);
            }
        });
        for (CatalogObject function : catalog().objects(ObjectKind.FUNCTION)) {
            boolean isOfQuery = catalog()
                    .userFunction(function.name())
                    .filter(of -> of.kind() == UserFunction.Kind.SQL || of.kind() == UserFunction.Kind.SQL_TABLE)
                    .isPresent();
            boolean mayRead = names.keySet().stream()
                    .anyMatch(name -> function.definition().contains(catalog().withoutSchema(name)));
            if (isOfQuery && mayRead && isBound(function, catalog()) && !isBound(function, then)) {
                throw says(
                        function,
                        "CREATE OR REPLACE FUNCTION with a text that does not read it, and again behind this");
            }
        }
    }

    private static MillraceException says(CatalogObject object, String hint) {
        return MillraceException.notAvailableYet("another name of what "
                        + object.kind().sqlName() + " \"" + RelationNames.shown(object.name()) + "\" reads as it does")
                .withHint(hint);
    }

    private boolean isBound(CatalogObject object, Catalog in) {
        try (PlainNumeric.Binding meaning = object.numeric().bind()) {
            analyzed(object.definition(), in);
            return true;
        } catch (MillraceException e) {
            return false;
        }
    }

    private boolean meansTheSame(CatalogObject object, CatalogObject other, Catalog then) {
        try (PlainNumeric.Binding meaning = object.numeric().bind()) {
            Optional<Query> was = StatementKinds.query(analyzed(object.definition(), catalog()));
            Optional<Query> is = StatementKinds.query(analyzed(other.definition(), then));
            Optional<Set<String>> reads = was.map(query -> query.dependsOn().stream()
                    .map(name -> names.getOrDefault(name, name))
                    .collect(Collectors.toSet()));
            return reads.equals(is.map(Query::dependsOn))
                    && was.map(Query::schema).equals(is.map(Query::schema));
        } catch (MillraceException e) {
            return false;
        }
    }
}
