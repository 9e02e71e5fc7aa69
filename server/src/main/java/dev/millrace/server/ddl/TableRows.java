package dev.millrace.server.ddl;

import dev.millrace.batch.Batch;
import dev.millrace.engine.relation.AlteredTable;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.query.Queries;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.statement.Commented;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/**
 * All rows of a table anew, and what keeps them unique, with the table's lock held. In a transaction these are the rows as the transaction has
 * them, and the table is as it was when that is undone.
 */
final class TableRows {
    private final Instance database;
    private final Queries queries;
    private final Transactions transactions;
    private final HeldDefinitions held;

    TableRows(Instance database, Queries queries, Transactions transactions, HeldDefinitions held) {
        this.database = database;
        this.queries = queries;
        this.transactions = transactions;
        this.held = held;
    }

    /** Puts rows in the place of those that a table has, which is another from now on. @param all computes them */
    void replace(CatalogObject before, CatalogObject after, Supplier<Batch> all) {
        transactions.settle(before.name());
        Set<String> tables = ForeignKeys.newlyReferenced(before, after);
        tables.add(before.name());
        ForeignKeys foreignKeys = new ForeignKeys(database);
        foreignKeys.withUnchanged(tables, "ALTER TABLE", transactions, () -> replaceLocked(before, after, all));
    }

    private void replaceLocked(CatalogObject before, CatalogObject after, Supplier<Batch> all) {
        locked(before, "ALTER TABLE", () -> {
            TableKeys keys = newKeys(after);
            try (Batch rows = all.get()) {
                keys.fill(rows);
                new ForeignKeys(database).requireHold(before, after, keys, transactions);
                database.catalog().altering(after.name(), () -> alter(before, after, rows));
            } catch (RuntimeException e) {
                keys.close();
                throw e;
            }
            replaceKeys(keys);
        });
    }

    /** Puts a table's keys anew, checked over all rows, as its rules have them now. */
    void enforce(CatalogObject after) {
        CatalogObject before = database.catalog().object(after.name()).orElseThrow();
        transactions.settle(before.name());
        if (held.hasChanged(after.name())) { // as keys are of rows that are there
            replace(before, before, () -> queries.whole(queries.all(before)));
        }
        locked(before, "change the unique indexes of", () -> {
            TableKeys keys = newKeys(after);
            try (Batch rows = queries.whole(queries.all(after))) {
                keys.fill(rows);
            } catch (RuntimeException e) {
                keys.close();
                throw e;
            }
            replaceKeys(keys);
            database.catalog().replaceRules(after);
            held.step(() -> database.catalog().replaceRules(before), () -> {});
        });
    }

    private void locked(CatalogObject table, String what, Runnable change) {
        TableKeys keys = Objects.requireNonNull(database.tableKeys().get(table.name()));
        Interrupt.lock(keys.lock());
        try {
            transactions.requireUnchanged(table.name(), keys, what);
            requireOwnUnread(table.name(), what);
            if (keys.lastEpoch() > 0) {
                database.engine().awaitEpoch(keys.lastEpoch());
            }
            change.run();
        } finally {
            keys.unlock();
        }
    }

    /** Who reads the table is to be told of the transaction's own changes when it ends, and not before. */
    private void requireOwnUnread(String table, String what) {
        if (held.hasChanged(table)
                && !database.engine().relations().readers(table).isEmpty()) {
            throw MillraceException.user(
                            SqlState.OBJECT_IN_USE,
                            "cannot " + what + " \"" + table
                                    + "\" because this transaction has changed its rows, and queries read them")
                    .withHint("COMMIT before it");
        }
    }

    private TableKeys newKeys(CatalogObject table) {
        TableKeys keys = new TableKeys(
                table.name(),
                table.schema(),
                table.primaryKey(),
                table.rules(),
                database.engine().allocator());
        keys.wrote(
                Objects.requireNonNull(database.tableKeys().get(table.name())).lastEpoch());
        return keys;
    }

    private void alter(CatalogObject before, CatalogObject after, Batch rows) {
        String name = after.name();
        Map<Commented, String> comments = database.catalog().comments().about(name);
        long oldNumber = database.catalogStore().numberOf(name);
        long number = database.catalogStore().newRows();
        long behind = database.journal().appended();
        AlteredTable altered = database.engine().relations().alterTable(name, after.schema(), List.of(rows), number);
        try {
            database.journal().awaitDurable(altered.entry());
        } catch (RuntimeException e) {
            altered.undo();
            throw e;
        }
        database.catalogStore().hasRows(name, number, behind);
        database.catalog().replace(after);
        held.changed(name);
        held.step(
                () -> {
                    altered.undo();
                    database.catalogStore().hasRows(name, oldNumber);
                    database.catalog().replace(before);
                    database.catalog().comments().putAbout(name, comments);
                },
                altered::keep);
        if (!database.catalog().dependents(name).isEmpty()) {
            held.altersState();
        }
    }

    /** With the lock of those that are there. */
    private void replaceKeys(TableKeys now) {
        String table = now.table();
        TableKeys before = Objects.requireNonNull(database.tableKeys().put(table, now));
        before.setAside(true);
        held.changed(table);
        held.absorbed(table);
        held.step(
                () -> {
                    database.tableKeys().put(table, before);
                    before.setAside(false);
                    now.close();
                },
                before::close);
    }
}
