package dev.millrace.server.dml;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Reference;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.ChangedTable;
import dev.millrace.server.transaction.ReferencedKey;
import dev.millrace.server.transaction.RowsHeld;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.server.transaction.Transaction.Mark;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.server.transaction.ValueCounts;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.ForeignKey.Action;
import dev.millrace.sql.catalog.ForeignKey.Timing;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.text.Identifiers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Foreign keys of one session's changes. A statement that changes a table which has some, or which others reference, is done in a
 * transaction, of its own where there is none: its changes are held back, what the foreign keys do with referencing rows is done over
 * them, and then it is checked that all hold. Those that are deferred are checked at COMMIT, over all that the transaction changed.
 *
 * <pre>
 *   statement -> its changes -> actions -> their changes -> actions -> .. -> checks -> stays, or nothing was changed
 * </pre>
 *
 * A transaction that references a key shares it until it ends, and one that takes a key away has it alone, so neither can be wrong about what
 * the other has not committed. Which values are there is known of each table ({@link TableKeys}): no row is read for a check.
 *
 * <p>Belongs to the session's thread. Long because a statement's changes, those of a COMMIT and the rows of a new foreign key are held to the same two questions.
 */
public final class ForeignKeyChecks implements Transactions.Checks {
    private final Instance database;
    private final Queries queries;
    private final Transactions transactions;
    private final SessionSettings settings;
    private final ForeignKeyActions actions;
    private boolean isActive; // while a statement is done whose changes are checked behind it

    ForeignKeyChecks(
            Instance database, Queries queries, Transactions transactions, SessionSettings settings, Writes writes) {
        this.database = database;
        this.queries = queries;
        this.transactions = transactions;
        this.settings = settings;
        this.actions = new ForeignKeyActions(database, writes);
    }

    /** What foreign keys there are changes, or has since the statement looked: it looks again. */
    static final class OthersDefine extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OthersDefine() {
            super("", null, false, false);
        }
    }

    /** Whether changes of a table are checked. */
    boolean concern(String table) {
        return database.catalog().hasReferences(table);
    }

    /**
     * With the table's lock held, without which it gets no foreign key.
     *
     * @throws OthersDefine if changes of it are to be checked, and are not, or another transaction has dropped what may come back
     */
    void requireKnown(String table) {
        boolean isUnchecked =
                !isActive && concern(table); // before the other, which is said before a foreign key is gone
        if (isUnchecked || database.uncommitted().involves(table, transactions.current())) {
            throw new OthersDefine();
        }
    }

    /** Waits for another transaction that has changed definitions, if there is one. */
    void awaitDefinitions() {
        database.uncommitted().await(transactions.current(), settings.millis(Setting.LOCK_TIMEOUT));
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    /** Makes changes, and what follows of them; within another such they are a part of it. */
    StatementResult around(Supplier<StatementResult> change) {
        if (isActive) {
            return change.get();
        }
        boolean alone = !transactions.isUnderWay();
        if (alone) {
            transactions.beginImplicit();
        }
        try {
            StatementResult result = untilFree(change);
            if (alone) {
                Writes.unlessItFails(result, transactions::endImplicit);
            }
            return result;
        } catch (RuntimeException | Error e) {
            if (alone) {
                transactions.rollBack();
            }
            throw e;
        }
    }

    private StatementResult untilFree(Supplier<StatementResult> change) {
        Transaction transaction = transactions.current().orElseThrow();
        Mark begin = transaction.mark();
        while (true) {
            Optional<Transaction> holder;
            isActive = true;
            try {
                StatementResult result = change.get();
                return Writes.unlessItFails(result, () -> settle(transaction, begin));
            } catch (RowsHeld held) {
                transaction.backTo(begin);
                holder = Optional.of(held.holder());
            } catch (OthersDefine others) {
                transaction.backTo(begin);
                holder = Optional.empty();
            } finally {
                isActive = false;
            }
            await(holder);
        }
    }

    /** @param holder of rows; none to wait for who defines */
    private void await(Optional<Transaction> holder) {
        if (holder.isEmpty()) {
            awaitDefinitions();
        } else {
            transactions.await(holder.get());
        }
    }

    private void settle(Transaction transaction, Mark begin) {
        Mark seen = begin;
        boolean acted = true;
        while (acted) {
            acted = false;
            Mark now = transaction.mark();
            for (String table : transaction.changedSince(seen)) {
                List<Batch> changes = transaction.changesSince(seen, table);
                int upTo = now.rows().getOrDefault(table, 0) - seen.rows().getOrDefault(table, 0);
                for (Reference reference : database.catalog().referencesTo(table)) {
                    acted |= act(transaction, reference, changes.subList(0, Math.min(upTo, changes.size())));
                }
            }
            seen = now;
        }
        check(transaction, begin, reference -> !isDeferred(transaction, reference));
    }

    /** Does what a foreign key says of rows whose keys are gone; returns whether others were changed by that. */
    private boolean act(Transaction transaction, Reference reference, List<Batch> changes) {
        Sides sides = sides(reference);
        Map<String, Integer> weights = ValueCounts.weights(changes, sides.referencedPlaces());
        Set<String> gone = weights.keySet().stream()
                .filter(text -> Objects.requireNonNull(weights.get(text)) < 0)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        if (gone.isEmpty()) {
            return false;
        }
        requireSettled(reference);
        inTable(transaction, sides.referenced().name(), table -> {
            transaction.remove(
                    table.keys(), gone.stream().map(sides.key()::known).toList());
            return true;
        });
        Set<String> referenced = referenced(transaction, reference, gone);
        if (referenced.isEmpty()) {
            return false;
        }
        ForeignKeyActions.Gone rows = ForeignKeyActions.Gone.of(changes, sides.referencedPlaces(), referenced);
        ForeignKey key = reference.key();
        if (key.onDelete() == Action.RESTRICT && !rows.deleted().isEmpty()) {
            throw stillReferenced(sides, changes, rows.deleted().keySet());
        } else if (key.onUpdate() == Action.RESTRICT && !rows.updated().isEmpty()) {
            throw stillReferenced(sides, changes, rows.updated().keySet());
        }
        return actions.act(reference, rows);
    }

    /** Of texts those that rows of the referencing table have. */
    private Set<String> referenced(Transaction transaction, Reference reference, Set<String> texts) {
        return inTable(
                transaction,
                reference.table(),
                table -> texts.stream()
                        .filter(text -> table.references(reference.key().name(), text))
                        .collect(Collectors.toCollection(LinkedHashSet::new)));
    }

    // ---- checks ----------------------------------------------------------------------------------------------------

    private boolean isDeferred(Transaction transaction, Reference reference) {
        return transaction.deferred(reference.id()).orElse(reference.key().timing() == Timing.DEFERRED);
    }

    /** @throws MillraceException 23503 */
    private void check(Transaction transaction, Mark from, Predicate<Reference> counts) {
        for (String table : transaction.changedSince(from)) {
            List<Batch> changes = transaction.changesSince(from, table);
            for (ForeignKey key : foreignKeys(table)) {
                Reference reference = new Reference(table, key);
                if (counts.test(reference)) {
                    requirePresent(transaction, reference, changes);
                }
            }
            for (Reference reference : database.catalog().referencesTo(table)) {
                if (counts.test(reference)) {
                    requireUnreferenced(transaction, reference, changes);
                }
            }
        }
    }

    private List<ForeignKey> foreignKeys(String table) {
        return database.catalog()
                .object(table)
                .map(object -> object.rules().foreignKeys())
                .orElse(List.of());
    }

    /** What the rows that came reference is there. */
    private void requirePresent(Transaction transaction, Reference reference, List<Batch> changes) {
        Sides sides = sides(reference);
        if (reference.key().full()) {
            requireNoMixture(sides, changes);
        }
        Map<String, Integer> weights = ValueCounts.weights(changes, sides.places());
        Map<String, String> known = new LinkedHashMap<>(); // by what the referenced table knows it by
        weights.forEach((text, weight) -> {
            if (weight > 0) {
                known.put(sides.key().known(text), text);
            }
        });
        if (known.isEmpty()) {
            return;
        }
        requireSettled(reference);
        Set<String> missing = inTable(transaction, sides.referenced().name(), table -> {
            transaction.share(table.keys(), known.keySet());
            return known.keySet().stream()
                    .filter(text -> !table.hasKnown(text))
                    .map(known::get)
                    .collect(Collectors.toCollection(LinkedHashSet::new));
        });
        Set<String> left = missing.isEmpty() ? missing : referenced(transaction, reference, missing);
        if (!left.isEmpty()) {
            throw notPresent(sides, changes, left);
        }
    }

    private void requireNoMixture(Sides sides, List<Batch> changes) {
        for (Batch batch : changes) {
            for (int row = 0; row < batch.rowCount(); row++) {
                int nulls = 0;
                for (int column : sides.places()) {
                    nulls += batch.column(column).isNull(row) ? 1 : 0;
                }
                boolean isAdded =
                        batch.weights().isEmpty() || batch.weights().get().get(row) > 0;
                if (isAdded && nulls > 0 && nulls < sides.places().length) {
                    throw violation(
                            sides,
                            "insert or update on table \""
                                    + shown(sides.reference().table()) + "\"",
                            "MATCH FULL does not allow mixing of null and nonnull key values.");
                }
            }
        }
    }

    /** Of keys that are gone nothing is left that references them. */
    private void requireUnreferenced(Transaction transaction, Reference reference, List<Batch> changes) {
        Sides sides = sides(reference);
        Map<String, Integer> weights = ValueCounts.weights(changes, sides.referencedPlaces());
        Set<String> gone = inTable(
                transaction,
                sides.referenced().name(),
                table -> weights.keySet().stream()
                        .filter(text -> Objects.requireNonNull(weights.get(text)) < 0
                                && !table.hasKnown(sides.key().known(text)))
                        .collect(Collectors.toCollection(LinkedHashSet::new)));
        if (gone.isEmpty()) {
            return;
        }
        requireSettled(reference);
        Set<String> left = referenced(transaction, reference, gone);
        if (!left.isEmpty()) {
            throw stillReferenced(sides, changes, left);
        }
    }

    // ---- deferred --------------------------------------------------------------------------------------------------

    @Override
    public void all(Transaction transaction) {
        checkLater(transaction, reference -> isDeferred(transaction, reference));
    }

    @Override
    public void of(Transaction transaction, String table) {
        try {
            checkLater(
                    transaction,
                    reference -> isDeferred(transaction, reference)
                            && (reference.table().equals(table)
                                    || reference.key().table().equals(table)));
        } catch (MillraceException e) {
            throw e.sqlState() != SqlState.FOREIGN_KEY_VIOLATION
                    ? e
                    : MillraceException.user(
                                    SqlState.OBJECT_IN_USE,
                                    "cannot ALTER TABLE \"" + shown(table)
                                            + "\" because it has pending trigger events: " + e.getMessage())
                            .withHint("put right what the deferred foreign key says before it");
        }
    }

    private void checkLater(Transaction transaction, Predicate<Reference> counts) {
        while (true) {
            Optional<Transaction> holder;
            try {
                check(transaction, Mark.BEGIN, counts);
                return;
            } catch (RowsHeld held) {
                holder = Optional.of(held.holder());
            } catch (OthersDefine others) {
                holder = Optional.empty();
            }
            await(holder);
        }
    }

    /**
     * SET CONSTRAINTS.
     *
     * @throws MillraceException 42704 and 42809 for what is no deferrable foreign key; 23503 if one is to hold now, and does not
     */
    public StatementResult set(Statement.SetConstraints set) {
        List<Reference> all = database.catalog().objects().stream()
                .flatMap(object -> object.rules().foreignKeys().stream().map(key -> new Reference(object.name(), key)))
                .toList();
        Set<Reference> meant = new LinkedHashSet<>();
        if (set.names().isEmpty()) {
            all.stream()
                    .filter(reference -> reference.key().timing() != Timing.NOT_DEFERRABLE)
                    .forEach(meant::add);
        }
        for (String written : set.names()) {
            String name = written.substring(written.lastIndexOf('.') + 1);
            List<Reference> named = all.stream()
                    .filter(reference -> reference.key().name().equals(name))
                    .toList();
            if (named.isEmpty() && isOfRows(name)) {
                throw notDeferrable(written);
            } else if (named.isEmpty()) {
                throw MillraceException.user(
                        SqlState.UNDEFINED_OBJECT, "constraint \"" + written + "\" does not exist");
            }
            if (named.stream().anyMatch(reference -> reference.key().timing() == Timing.NOT_DEFERRABLE)) {
                throw notDeferrable(written);
            }
            meant.addAll(named);
        }
        Optional<Transaction> transaction = transactions.isUnderWay() ? transactions.current() : Optional.empty();
        transaction.ifPresent(current -> {
            if (!set.deferred()) {
                checkLater(current, meant::contains);
            }
            meant.forEach(reference -> current.defer(reference.id(), set.deferred()));
        });
        return StatementResult.Command.of("SET CONSTRAINTS");
    }

    /** Whether a constraint is one that each row has to hold, or all rows of a table. */
    private boolean isOfRows(String constraint) {
        return database.catalog().objects().stream().anyMatch(object -> {
            boolean isKey = !object.primaryKey().isEmpty()
                    && constraint.equals(database.catalog().withoutSchema(object.name()) + "_pkey");
            return isKey
                    || object.rules().checks().stream()
                            .anyMatch(check -> check.name().equals(constraint))
                    || object.rules().uniques().stream()
                            .anyMatch(unique -> unique.name().equals(constraint));
        });
    }

    private static MillraceException notDeferrable(String constraint) {
        return MillraceException.user(
                SqlState.WRONG_OBJECT_TYPE, "constraint \"" + constraint + "\" is not deferrable");
    }

    // ---- TRUNCATE --------------------------------------------------------------------------------------------------

    /**
     * With all tables that CASCADE is about.
     *
     * @throws MillraceException 0A000 for a table that others reference which keep their rows
     */
    Statement.Truncate truncated(Statement.Truncate truncate) {
        Set<String> tables = new LinkedHashSet<>(truncate.relations());
        List<String> open = new ArrayList<>(tables);
        for (int next = 0; next < open.size(); next++) {
            String table = open.get(next);
            for (Reference reference : database.catalog().referencesTo(table)) {
                if (!tables.contains(reference.table()) && !truncate.cascade()) {
                    throw MillraceException.user(
                                    SqlState.FEATURE_NOT_SUPPORTED,
                                    "cannot truncate a table referenced in a foreign key constraint")
                            .withDetail(
                                    "Table \"" + shown(reference.table()) + "\" references \"" + shown(table) + "\".")
                            .withHint("Truncate table \"" + shown(reference.table())
                                    + "\" at the same time, or use TRUNCATE ... CASCADE.");
                } else if (tables.add(reference.table())) {
                    open.add(reference.table());
                }
            }
        }
        return new Statement.Truncate(List.copyOf(tables), truncate.restart(), truncate.cascade());
    }

    // ---- tables ----------------------------------------------------------------------------------------------------

    /**
     * A foreign key with its tables.
     *
     * @param places of its columns
     * @param referencedPlaces of those that they are to be like
     */
    private record Sides(
            Reference reference, CatalogObject referenced, ReferencedKey key, int[] places, int[] referencedPlaces) {}

    private Sides sides(Reference reference) {
        ForeignKey key = reference.key();
        CatalogObject table = object(reference.table());
        CatalogObject referenced = object(key.table());
        return new Sides(
                reference,
                referenced,
                ReferencedKey.of(
                                referenced.schema(),
                                referenced.primaryKey(),
                                referenced.rules().uniques(),
                                key.referenced())
                        .orElseThrow(),
                key.columns().stream().mapToInt(table.schema()::indexOf).toArray(),
                key.referenced().stream().mapToInt(referenced.schema()::indexOf).toArray());
    }

    private CatalogObject object(String name) {
        return database.catalog().object(name).orElseThrow(() -> DatabaseCatalog.undefined("table", name, List.of()));
    }

    /** @throws OthersDefine if another transaction has altered or made the table: it may be what it was once more */
    private void requireSettled(Reference reference) {
        Optional<Transaction> own = transactions.current();
        if (database.uncommitted().involves(reference.table(), own)
                || database.uncommitted().involves(reference.key().table(), own)) {
            throw new OthersDefine();
        }
    }

    /** Looks at a table as the transaction has it, with its lock held. */
    private <T> T inTable(Transaction transaction, String name, Function<ChangedTable, T> look) {
        TableKeys keys = Optional.ofNullable(database.tableKeys().get(name))
                .orElseThrow(() -> DatabaseCatalog.undefined("table", name, List.of()));
        Interrupt.lock(keys.lock());
        try {
            return look.apply(transaction.table(keys, transactions.mostBytes()));
        } finally {
            keys.unlock();
        }
    }

    // ---- errors ----------------------------------------------------------------------------------------------------

    private String shown(String table) {
        return RelationNames.isOfSession(table)
                ? RelationNames.shown(table)
                : database.catalog().withoutSchema(table);
    }

    private MillraceException notPresent(Sides sides, List<Batch> changes, Set<String> texts) {
        ForeignKey key = sides.reference().key();
        return violation(
                sides,
                "insert or update on table \"" + shown(sides.reference().table()) + "\"",
                "Key (" + list(key.columns()) + ")=(" + values(changes, sides.places(), texts)
                        + ") is not present in table \"" + shown(key.table()) + "\".");
    }

    private MillraceException stillReferenced(Sides sides, List<Batch> changes, Set<String> texts) {
        Reference reference = sides.reference();
        String table = shown(reference.key().table());
        MillraceException error = MillraceException.user(
                        SqlState.FOREIGN_KEY_VIOLATION,
                        "update or delete on table \"" + table + "\" violates foreign key constraint \""
                                + reference.key().name() + "\" on table \"" + shown(reference.table()) + "\"")
                .withDetail("Key (" + list(reference.key().referenced()) + ")=("
                        + values(changes, sides.referencedPlaces(), texts) + ") is still referenced from table \""
                        + shown(reference.table()) + "\".");
        return error.of(constraint(reference));
    }

    private MillraceException violation(Sides sides, String what, String detail) {
        Reference reference = sides.reference();
        return MillraceException.user(
                        SqlState.FOREIGN_KEY_VIOLATION,
                        what + " violates foreign key constraint \""
                                + reference.key().name() + "\"")
                .withDetail(detail)
                .of(constraint(reference));
    }

    private MillraceException.Constraint constraint(Reference reference) {
        return new MillraceException.Constraint(
                RelationNames.isOfSession(reference.table())
                        ? RelationNames.prefix(reference.table())
                        : database.catalog().schemaOf(reference.table()),
                shown(reference.table()),
                reference.key().name());
    }

    private static String list(List<String> columns) {
        return columns.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
    }

    /** The values of the first row that has one of the texts. */
    private static String values(List<Batch> changes, int[] columns, Set<String> texts) {
        for (Batch batch : changes) {
            for (int row = 0; row < batch.rowCount(); row++) {
                if (ValueCounts.text(batch, columns, row)
                        .filter(texts::contains)
                        .isPresent()) {
                    List<String> values = new ArrayList<>();
                    for (int column : columns) {
                        values.add(ValueText.format(batch, column, row).orElse("null"));
                    }
                    return String.join(", ", values);
                }
            }
        }
        return "";
    }
}
