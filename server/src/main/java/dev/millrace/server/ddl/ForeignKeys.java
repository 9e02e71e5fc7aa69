package dev.millrace.server.ddl;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Reference;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.transaction.ReferencedKey;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.ForeignKey.Action;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules.Unique;
import dev.millrace.sql.statement.Statement.CreateTable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Foreign keys as definitions of tables have them: what they may reference, and what becomes of them when the tables change. With the lock of
 * definitions held.
 */
final class ForeignKeys {
    private final Instance database;

    ForeignKeys(Instance database) {
        this.database = database;
    }

    // ---- what they may be ------------------------------------------------------------------------------------------

    /**
     * Foreign keys with their names and all columns.
     *
     * @param table with those that it has already
     * @throws MillraceException why one of them cannot be
     */
    List<ForeignKey> added(CreateTable table, List<ForeignKey> given) {
        List<ForeignKey> all = new ArrayList<>(table.rules().foreignKeys());
        Set<String> names = new HashSet<>();
        table.rules().checks().forEach(check -> names.add(check.name()));
        table.rules().uniques().forEach(unique -> names.add(unique.name()));
        all.forEach(key -> names.add(key.name()));
        for (ForeignKey key : given) {
            ForeignKey known = known(table, key, names);
            names.add(known.name());
            all.add(known);
        }
        return all;
    }

    private ForeignKey known(CreateTable table, ForeignKey key, Set<String> names) {
        String own = database.catalog().withoutSchema(RelationNames.shown(table.name()));
        requireColumns(table.columns(), key.columns());
        if (names.contains(key.name())) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_OBJECT,
                    "constraint \"" + key.name() + "\" for relation \"" + own + "\" already exists");
        }
        String base = own + "_" + String.join("_", key.columns()) + "_fkey";
        String name = key.name().isEmpty() ? base : key.name();
        for (int number = 1; key.name().isEmpty() && names.contains(name); number++) {
            name = base + number;
        }
        Keyed referenced = referenced(table, key);
        List<String> columns = key.referenced();
        if (columns.isEmpty()) {
            columns = referenced.primaryKey().stream()
                    .map(column -> referenced.schema().field(column).name())
                    .toList();
            if (columns.isEmpty()) {
                throw MillraceException.user(
                        SqlState.UNDEFINED_OBJECT,
                        "there is no primary key for referenced table \"" + RelationNames.shown(key.table()) + "\"");
            }
        }
        ForeignKey known = key.known(name, columns);
        requireImplementable(table.columns(), referenced, known);
        requireActions(table, known);
        return known;
    }

    /** A table that others reference: those of its keys that are unique. */
    private record Keyed(Schema schema, List<Integer> primaryKey, List<Unique> uniques) {
        static Keyed of(CatalogObject table) {
            return new Keyed(table.schema(), table.primaryKey(), table.rules().uniques());
        }
    }

    private Keyed referenced(CreateTable table, ForeignKey key) {
        if (key.table().equals(table.name())) {
            Schema schema = new Schema(table.columns());
            return new Keyed(
                    schema,
                    table.primaryKey().stream().map(schema::indexOf).toList(),
                    table.rules().uniques());
        }
        String shown = RelationNames.shown(key.table());
        CatalogObject referenced = database.catalog()
                .object(key.table())
                .orElseThrow(() ->
                        MillraceException.user(SqlState.UNDEFINED_TABLE, "relation \"" + shown + "\" does not exist"));
        if (referenced.kind() != ObjectKind.TABLE) {
            throw MillraceException.user(
                    SqlState.WRONG_OBJECT_TYPE, "referenced relation \"" + shown + "\" is not a table");
        }
        boolean isTemporary = RelationNames.isOfSession(table.name());
        if (isTemporary != RelationNames.isOfSession(key.table())) {
            String which = isTemporary ? "temporary" : "permanent";
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION,
                    "constraints on " + which + " tables may reference only " + which + " tables");
        }
        if (database.feeds().isFed(key.table()) || table.options().containsKey("connector")) {
            throw MillraceException.notAvailableYet("a foreign key of, or to, a table that a connector feeds")
                    .withHint("its rows come as the other database has them: a foreign key there holds here, too");
        }
        return Keyed.of(referenced);
    }

    private static void requireColumns(List<Field> fields, List<String> columns) {
        Set<String> names = fields.stream().map(Field::name).collect(Collectors.toSet());
        for (String column : columns) {
            if (!names.contains(column)) {
                throw MillraceException.user(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + column + "\" referenced in foreign key constraint does not exist");
            }
        }
    }

    private static void requireImplementable(List<Field> fields, Keyed referenced, ForeignKey key) {
        requireColumns(referenced.schema().fields(), key.referenced());
        if (key.columns().size() != key.referenced().size()) {
            throw MillraceException.user(
                    SqlState.INVALID_FOREIGN_KEY,
                    "number of referencing and referenced columns for foreign key disagree");
        }
        if (ReferencedKey.of(referenced.schema(), referenced.primaryKey(), referenced.uniques(), key.referenced())
                .isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_FOREIGN_KEY,
                    "there is no unique constraint matching given keys for referenced table \""
                            + RelationNames.shown(key.table()) + "\"");
        }
        Schema own = new Schema(fields);
        for (int place = 0; place < key.columns().size(); place++) {
            DataType type = own.type(own.indexOf(key.columns().get(place)));
            DataType other = referenced
                    .schema()
                    .type(referenced.schema().indexOf(key.referenced().get(place)));
            if (isInteger(type) && isInteger(other) || isPlainText(type) && isPlainText(other) || type.equals(other)) {
                continue;
            }
            boolean isNumber = type.isNumber() && other.isNumber();
            MillraceException error = MillraceException.user(
                            isNumber ? SqlState.FEATURE_NOT_SUPPORTED : SqlState.DATATYPE_MISMATCH,
                            "foreign key constraint \"" + key.name() + "\" cannot be implemented")
                    .withDetail("Key columns \"" + key.columns().get(place) + "\" and \""
                            + key.referenced().get(place) + "\" are of "
                            + (isNumber ? "different" : "incompatible") + " types: " + type + " and " + other + ".");
            throw isNumber ? error.withHint("give the column the type of what it references") : error;
        }
    }

    private static boolean isInteger(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT -> true;
            default -> false;
        };
    }

    private static boolean isPlainText(DataType type) {
        return switch (type.kind()) {
            case TEXT, VARCHAR -> true;
            default -> false;
        };
    }

    private static void requireActions(CreateTable table, ForeignKey key) {
        boolean isGenerated = key.columns().stream().anyMatch(table.rules()::isGenerated);
        boolean changes = key.onDelete() == Action.SET_NULL
                || key.onDelete() == Action.SET_DEFAULT
                || key.onUpdate() != Action.NO_ACTION && key.onUpdate() != Action.RESTRICT;
        if (isGenerated && changes) {
            throw MillraceException.user(
                    SqlState.SYNTAX_ERROR,
                    "invalid ON " + (key.onUpdate() == Action.NO_ACTION ? "DELETE" : "UPDATE")
                            + " action for foreign key constraint containing generated column");
        }
    }

    /** What a table references is to be as it is altered. */
    void requireStill(CreateTable table) {
        for (ForeignKey key : table.rules().foreignKeys()) {
            requireImplementable(table.columns(), referenced(table, key), key);
        }
    }

    /** Foreign keys of other tables that a table as it is to be has no key for any more, or one of another type. */
    List<Reference> broken(CatalogObject after, List<Reference> references) {
        List<Reference> broken = new ArrayList<>();
        for (Reference reference : references) {
            boolean hasKey = ReferencedKey.of(
                            after.schema(),
                            after.primaryKey(),
                            after.rules().uniques(),
                            reference.key().referenced())
                    .isPresent();
            if (hasKey) {
                CatalogObject table =
                        database.catalog().object(reference.table()).orElseThrow();
                requireImplementable(table.schema().fields(), Keyed.of(after), reference.key());
            } else {
                broken.add(reference);
            }
        }
        return broken;
    }

    /** A foreign key as messages name it. */
    static String describe(Reference reference) {
        return "constraint " + Identifiers.quote(reference.key().name()) + " on table "
                + Identifiers.quote(RelationNames.shown(reference.table()));
    }

    /** The error for what others reference. @param what that is, and what is done to it */
    static MillraceException stillReferenced(String verb, String what, List<Reference> references) {
        return MillraceException.user(
                        SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                        "cannot " + verb + " " + what + " because other objects depend on it: "
                                + references.stream().map(ForeignKeys::describe).collect(Collectors.joining(", ")))
                .withDetail(references.stream()
                        .map(reference -> describe(reference) + " depends on " + what)
                        .collect(Collectors.joining("\n")))
                .withHint("Use " + verb.toUpperCase(Locale.ROOT) + " ... CASCADE to drop the dependent objects too.");
    }

    // ---- rows that are there ---------------------------------------------------------------------------------------

    /** The tables that foreign keys reference which a table is to have and has not, beside itself. */
    static Set<String> newlyReferenced(CatalogObject before, CatalogObject after) {
        Set<String> tables = new TreeSet<>();
        for (ForeignKey key : after.rules().foreignKeys()) {
            if (!before.rules().foreignKeys().contains(key) && !key.table().equals(after.name())) {
                tables.add(key.table());
            }
        }
        return tables;
    }

    /**
     * All rows of a table have what foreign keys say which it had not before. With the locks of all the tables held.
     *
     * @param keys of the rows as they are to be
     * @throws MillraceException 23503
     */
    void requireHold(CatalogObject before, CatalogObject after, TableKeys keys, Transactions transactions) {
        for (ForeignKey key : after.rules().foreignKeys()) {
            if (before.rules().foreignKeys().contains(key)) {
                continue;
            }
            CatalogObject referenced = key.table().equals(after.name())
                    ? after
                    : database.catalog().object(key.table()).orElseThrow();
            ReferencedKey known = ReferencedKey.of(
                            referenced.schema(),
                            referenced.primaryKey(),
                            referenced.rules().uniques(),
                            key.referenced())
                    .orElseThrow();
            Predicate<String> isThere = isThere(key, after, keys, transactions);
            for (String text : keys.references().texts(key.name())) {
                if (!isThere.test(known.known(text))) {
                    throw MillraceException.user(
                                    SqlState.FOREIGN_KEY_VIOLATION,
                                    "insert or update on table \"" + RelationNames.shown(after.name())
                                            + "\" violates foreign key constraint \"" + key.name() + "\"")
                            .withDetail("Key (" + String.join(", ", key.columns()) + ")=("
                                    + String.join(", ", ReferencedKey.shown(text)) + ") is not present in table \""
                                    + RelationNames.shown(key.table()) + "\".")
                            .of(new MillraceException.Constraint(
                                    database.catalog().schemaOf(after.name()),
                                    database.catalog().withoutSchema(after.name()),
                                    key.name()));
                }
            }
        }
    }

    private Predicate<String> isThere(ForeignKey key, CatalogObject after, TableKeys keys, Transactions transactions) {
        if (key.table().equals(after.name())) {
            return keys::hasKnown;
        }
        TableKeys referenced = Objects.requireNonNull(database.tableKeys().get(key.table()));
        return transactions.isUnderWay() && transactions.current().isPresent()
                ? transactions.current().get().table(referenced, transactions.mostBytes())::hasKnown
                : referenced::hasKnown;
    }

    /** Does something with the locks of tables held whose rows no other transaction has changed. */
    void withUnchanged(Set<String> tables, String what, Transactions transactions, Runnable action) {
        List<TableKeys> locked = new ArrayList<>();
        try {
            for (String table : new TreeSet<>(tables)) {
                TableKeys keys = database.tableKeys().get(table);
                if (keys != null) {
                    Interrupt.lock(keys.lock());
                    locked.add(keys);
                    transactions.requireUnchanged(table, keys, what);
                }
            }
            action.run();
        } finally {
            locked.forEach(TableKeys::unlock);
        }
    }

    // ---- tables whose foreign keys are others ----------------------------------------------------------------------

    /** A table that has these foreign keys, and is the same otherwise. @param indexes of the database */
    static CatalogObject with(CatalogObject table, List<ForeignKey> keys, Indexes indexes) {
        CatalogObject own = indexes.withoutIndexes(table);
        String text = TableShape.textOf(
                TableAlterations.definitionOf(own.withRules(own.rules().withForeignKeys(keys))));
        return table.renamed(table.name(), table.reads(), text, table.rules().withForeignKeys(keys));
    }

    /** Gives a table other foreign keys, which its rows have no part in. */
    void replace(String table, List<ForeignKey> keys, Indexes indexes, HeldDefinitions held) {
        CatalogObject before = database.catalog().object(table).orElseThrow();
        held.changed(table);
        before.rules().foreignKeys().forEach(key -> held.changed(key.table()));
        database.catalog().rename(Map.of(table, with(before, keys, indexes)), Map.of());
        held.step(() -> database.catalog().rename(Map.of(table, before), Map.of()), () -> {});
    }

    /** Drops foreign keys of tables that stay. */
    void drop(List<Reference> references, Indexes indexes, HeldDefinitions held) {
        for (Reference reference : references) {
            List<ForeignKey> left =
                    database.catalog().object(reference.table()).orElseThrow().rules().foreignKeys().stream()
                            .filter(key -> !key.name().equals(reference.key().name()))
                            .toList();
            replace(reference.table(), left, indexes, held);
        }
    }
}
