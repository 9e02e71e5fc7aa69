package dev.millrace.server.ddl;

import dev.millrace.connector.PushedSource;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.planner.tree.ScanNames;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.DatabaseCatalog.TakenOut;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.NamedText;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.RenameStatement.Rename;
import dev.millrace.sql.statement.RenameStatement.SetSchema;
import dev.millrace.sql.statement.RenameStatement.Swap;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * ALTER .. RENAME TO, SET SCHEMA and SWAP WITH: what is there has another name, with all that it has, and what reads it goes on.
 *
 * <pre>
 *   the texts that say the name are written anew, and bound by the catalog as it is going to be
 *   the engine calls relations and queries by the new names, and so do plans of what runs
 *   the catalog has all of them in the place of those before, in one record
 * </pre>
 *
 * On disk what things keep is known by their numbers, so nothing is written but that record.
 */
public final class Renames {
    private static final Set<ObjectKind> RELATIONS = Set.of(
            ObjectKind.STREAM,
            ObjectKind.TABLE,
            ObjectKind.VIEW,
            ObjectKind.MATERIALIZED_VIEW,
            ObjectKind.CONTINUOUS_QUERY);

    private final Instance database;
    private final Indexes indexes;
    private final Transactions transactions;
    private final HeldDefinitions held;
    private final Consumer<String> notices;

    public Renames(
            Instance database,
            Indexes indexes,
            Transactions transactions,
            HeldDefinitions held,
            Consumer<String> notices) {
        this.database = database;
        this.indexes = indexes;
        this.transactions = transactions;
        this.held = held;
        this.notices = notices;
    }

    private DatabaseCatalog catalog() {
        return database.catalog();
    }

    public Command execute(RenameStatement statement) {
        database.lockDefinitions();
        try {
            if (statement instanceof Rename rename && rename.kind() == ObjectKind.SCHEMA) {
                renameSchema(rename);
            } else if (statement instanceof Rename rename) {
                find(rename.kind(), rename.name(), rename.ifExists()).ifPresent(object -> rename(object, rename));
            } else if (statement instanceof SetSchema set) {
                find(set.kind(), set.name(), set.ifExists()).ifPresent(object -> setSchema(object, set.schema()));
            } else if (statement instanceof Swap swap) {
                swap(swap);
            }
            return Command.of("ALTER " + sqlName(statement.kind()));
        } finally {
            database.definitionLock().unlock();
        }
    }

    private static String sqlName(ObjectKind kind) {
        return kind.sqlName().toUpperCase(Locale.ROOT);
    }

    // ---- which names -----------------------------------------------------------------------------------------------

    private Optional<CatalogObject> find(ObjectKind kind, String name, boolean ifExists) {
        Optional<CatalogObject> object = catalog().object(name);
        if (object.isEmpty() && ifExists) {
            notices.accept("relation \"" + RelationNames.shown(name) + "\" does not exist, skipping");
            return object;
        }
        boolean isAny = kind == ObjectKind.TABLE
                && object.filter(of -> RELATIONS.contains(of.kind()) || of.kind() == ObjectKind.INDEX)
                        .isPresent();
        return isAny ? object : Optional.of(catalog().require(kind, name));
    }

    private void rename(CatalogObject object, Rename rename) {
        if (object.kind() == ObjectKind.INDEX) {
            indexes.rename(object.name(), rename.newName());
            return;
        }
        requireFree(rename.newName());
        if (object.kind() == ObjectKind.FUNCTION) {
            renameFunction(object, rename.newName());
            return;
        }
        rename(Map.of(object.name(), rename.newName()));
    }

    private void requireFree(String name) {
        if (catalog().object(name).isPresent()) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_TABLE, "relation \"" + RelationNames.shown(name) + "\" already exists");
        }
        held.requireFree(name);
    }

    private void setSchema(CatalogObject object, String schema) {
        if (!catalog().isSchema(schema)) {
            throw DatabaseCatalog.undefinedSchema(schema);
        }
        if (RelationNames.isOfSystem(schema) || schema.equals(RelationNames.TEMPORARY)) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED, "nothing can be moved into schema \"" + schema + "\"");
        }
        if (object.kind() == ObjectKind.INDEX) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "cannot change schema of index \"" + RelationNames.shown(object.name()) + "\"")
                    .withHint("Change the schema of the table instead.");
        }
        if (object.kind() == ObjectKind.FUNCTION) {
            String moved = moved(object.name(), schema);
            requireFree(moved);
            renameFunction(object, moved);
            return;
        }
        Map<String, String> names = new LinkedHashMap<>();
        names.put(object.name(), moved(object.name(), schema));
        catalog().indexes(object.name()).forEach(index -> names.put(index.name(), moved(index.name(), schema)));
        names.values().forEach(this::requireFree);
        rename(names);
    }

    private String moved(String name, String schema) {
        return RelationNames.in(schema, catalog().withoutSchema(name));
    }

    /** Of a function that nothing calls: texts say functions' names in places that are not looked for. */
    private void renameFunction(CatalogObject function, String newName) {
        String name = function.name();
        requireUncalled(function);
        UserFunction code = catalog().userFunction(name).orElseThrow();
        NamedText text =
                new NamedText(database.frontend().parse(function.definition()).get(0));
        text.renameNew(newName);
        Map<Commented, String> comments = catalog().comments().about(name);
        long number = database.catalogStore().numberOf(name);
        TakenOut before = catalog().takeOut(name);
        held.changed(name);
        held.step(
                () -> {
                    database.catalogStore().comesBack(name, number, false);
                    catalog().putBack(before);
                },
                () -> {});
        catalog()
                .add(
                        function.renamed(newName, function.reads(), text.text(), function.rules()),
                        new UserFunction(newName, code.kind(), code.parameters(), code.returns(), code.code()));
        held.made(newName, () -> catalog().remove(newName));
        comments.forEach((on, said) -> catalog().comments().put(on.of(newName), Optional.of(said)));
        catalog().roles().renameObjects(Map.of(name, newName));
    }

    private void requireUncalled(CatalogObject function) {
        String called = catalog().withoutSchema(function.name());
        Pattern word = Pattern.compile("(?<!\\w)" + Pattern.quote(called) + "(?!\\w)", Pattern.CASE_INSENSITIVE);
        Optional<CatalogObject> caller = catalog().objects().stream()
                .filter(object -> !object.name().equals(function.name())
                        && word.matcher(object.definition()).find())
                .findFirst();
        if (caller.isPresent()) {
            throw MillraceException.notAvailableYet("another name of a function that "
                            + caller.get().kind().sqlName() + " \""
                            + RelationNames.shown(caller.get().name())
                            + "\" may call")
                    .withHint("CREATE FUNCTION under the other name, and have that call it");
        }
    }

    private void swap(Swap swap) {
        CatalogObject one = find(swap.kind(), swap.name(), false).orElseThrow();
        CatalogObject other = find(swap.kind(), swap.other(), false).orElseThrow();
        if (one.kind() == ObjectKind.INDEX || other.kind() == ObjectKind.INDEX) {
            throw notYet(ObjectKind.INDEX, "ALTER INDEX .. RENAME TO gives each another name");
        }
        if (one.name().equals(other.name())) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_TABLE, "\"" + RelationNames.shown(one.name()) + "\" has this name");
        }
        if (!catalog().schemaOf(one.name()).equals(catalog().schemaOf(other.name()))) {
            throw MillraceException.notAvailableYet("SWAP WITH of what is in another schema")
                    .withHint("ALTER .. SET SCHEMA, and RENAME TO, in a transaction");
        }
        rename(Map.of(one.name(), other.name(), other.name(), one.name()));
    }

    private void renameSchema(Rename rename) {
        String before = RelationNames.shown(rename.name());
        String now = RelationNames.shown(rename.newName());
        if (RelationNames.isAlwaysThere(before)) {
            throw MillraceException.notAvailableYet("another name of schema \"" + before + "\"")
                    .withHint("it is always there; what is in it can be moved: ALTER TABLE .. SET SCHEMA");
        }
        catalog().require(ObjectKind.SCHEMA, rename.name());
        Schemas.requireMayBe(catalog(), now);
        if (catalog().isSchema(now)) {
            throw MillraceException.user(SqlState.DUPLICATE_SCHEMA, "schema \"" + now + "\" already exists");
        }
        Map<String, String> names = new LinkedHashMap<>();
        names.put(rename.name(), rename.newName());
        for (CatalogObject object : catalog().objects()) {
            if (object.kind() != ObjectKind.SCHEMA && object.name().startsWith(rename.name())) {
                names.put(
                        object.name(),
                        rename.newName() + object.name().substring(rename.name().length()));
            }
        }
        rename(names);
    }

    // ---- what may have another -------------------------------------------------------------------------------------

    private static MillraceException notYet(ObjectKind kind, String hint) {
        return MillraceException.notAvailableYet("another name of a " + kind.sqlName())
                .withHint(hint);
    }

    private void requireRenamable(CatalogObject object) {
        String name = object.name();
        String shown = "\"" + RelationNames.shown(name) + "\"";
        boolean isKnown = RELATIONS.contains(object.kind())
                || object.kind() == ObjectKind.SCHEMA
                || object.kind() == ObjectKind.INDEX;
        if (!isKnown) {
            throw notYet(object.kind(), "DROP it and CREATE it under the other name");
        }
        if (RelationNames.isOfSession(name)) {
            throw MillraceException.notAvailableYet("another name of a temporary relation")
                    .withHint("CREATE TEMP TABLE .. AS SELECT * FROM " + RelationNames.shown(name));
        }
        if (database.feeds().isFed(name)) {
            throw MillraceException.notAvailableYet("another name of a table that a connector feeds")
                    .withHint("DROP it and CREATE it under the other name: its rows come again; or a view of it");
        }
        if (object.input()
                .filter(input ->
                        input.source().filter(PushedSource.class::isInstance).isPresent())
                .isPresent()) {
            throw MillraceException.notAvailableYet("another name of " + shown + ", to which others send by its name")
                    .withHint("a view has its rows under another name");
        }
        if (!database.histories().to(name).isEmpty()) {
            throw MillraceException.notAvailableYet("another name of " + shown + ", which has durable subscriptions")
                    .withHint("DROP SUBSCRIPTION, and CREATE it again; or a view has its rows under another name");
        }
        requireNoPart(object, shown);
    }

    /** What the server finds by names that are made of others, or by options that say names. */
    private void requireNoPart(CatalogObject object, String shown) {
        RenamedObjects.requireNoTemplate(database, object);
        String name = object.name();
        boolean isReplaced = catalog().objects().stream()
                .map(CatalogObject::options)
                .anyMatch(options -> name.equals(options.get(CatalogObject.REPLACES))
                        || name.equals(options.get(CatalogObject.WINDOWS_OF)));
        if (isReplaced
                || object.options().containsKey(CatalogObject.REPLACES)
                || object.options().containsKey(CatalogObject.WINDOWS_OF)) {
            throw MillraceException.notAvailableYet("another name of " + shown + " while it is reprocessed")
                    .withHint("when it is done, or the query beside it is dropped");
        }
        EdgeWindowStreams windows = new EdgeWindowStreams(database);
        if (!windows.of(Set.of(name)).isEmpty() || object.options().containsKey(WindowProgram.STREAM_OPTION)) {
            throw MillraceException.notAvailableYet("another name of " + shown + ", whose windows devices make")
                    .withHint("a view has its rows under another name");
        }
    }

    // ---- the objects by their new names ----------------------------------------------------------------------------

    /** @param names the new ones, by those in the catalog */
    private void rename(Map<String, String> names) {
        for (String name : names.keySet()) {
            requireRenamable(catalog().object(name).orElseThrow());
        }
        RenamedObjects renamed = new RenamedObjects(database, indexes, names, notices);
        renamed.requireSameMeaning();
        withTables(names, () -> {
            call(names);
            catalog().rename(renamed.now(), renamed.indexesNow());
        });
        catalog().roles().renameObjects(names);
        held.renamed(names, renamed.changed(), () -> {
            call(inverse(names));
            catalog().rename(renamed.back(), renamed.indexesBack());
        });
    }

    private static Map<String, String> inverse(Map<String, String> names) {
        Map<String, String> back = new HashMap<>();
        names.forEach((name, newName) -> back.put(newName, name));
        return back;
    }

    // ---- what runs -------------------------------------------------------------------------------------------------

    /** With the locks of the tables among them, in the order in which others take them, whose rows no other transaction has changed. */
    private void withTables(Map<String, String> names, Runnable change) {
        List<TableKeys> locked = new ArrayList<>();
        try {
            for (String name : new TreeMap<>(names).keySet()) {
                TableKeys keys = database.tableKeys().get(name);
                if (keys != null) {
                    Interrupt.lock(keys.lock());
                    locked.add(keys);
                    transactions.requireUnchanged(name, keys, "rename");
                }
            }
            change.run();
        } finally {
            locked.forEach(TableKeys::unlock);
        }
    }

    /** Has what runs be known by other names. */
    private void call(Map<String, String> names) {
        Map<String, String> known = new HashMap<>(names);
        Starts starts = new Starts(database);
        database.queries().forEach((query, standing) -> {
            for (String own : starts.own(query, standing.plan())) {
                String stream = RetainedStreams.streamOf(own, query);
                known.put(
                        own,
                        RetainedStreams.ownName(names.getOrDefault(stream, stream), names.getOrDefault(query, query)));
            }
        });
        known.entrySet().removeIf(each -> each.getKey().equals(each.getValue()));
        database.engine().rename(known, plan -> ScanNames.renamed(plan, known));
        RelationNames.rename(database.queries(), names);
        RelationNames.rename(database.tableKeys(), names);
        names.values()
                .forEach(name ->
                        Optional.ofNullable(database.tableKeys().get(name)).ifPresent(keys -> keys.rename(name)));
        database.retained().rename(names);
        database.recovery().rename(names);
    }
}
