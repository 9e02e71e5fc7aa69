package dev.millrace.server.session;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.server.dml.RestoredTable;
import dev.millrace.server.instance.CatalogStore;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.journal.KeptRows;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.role.Roles;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.time.Clock;
import java.util.List;

/**
 * Makes again, when a database is opened, all that its data directory keeps, by the statements that are kept. What cannot be
 * made is logged, stays kept, and can be dropped. On the thread that opens the database.
 */
final class Restoration {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long TELL_NANOS = 2_000_000_000;

    private final Database database;
    private final Instance instance;
    private final CatalogStore catalogStore;
    private final Clock clock;
    private final DatabaseOptions.Restoring progress;
    private long rows; // changes of tables that were made again

    Restoration(Database database, DatabaseOptions.Restoring progress) {
        this.database = database;
        this.instance = database.instance();
        this.catalogStore = instance.catalogStore();
        this.clock = instance.clock();
        this.progress = progress;
    }

    /** From here on the catalog store hears of changes, and keeps them when all is there. */
    void run() {
        catalogStore.follow(instance.catalog(), instance.engine()::schedulingPolicy);
        if (catalogStore.directory().isPresent()) {
            run(catalogStore.directory().get());
        }
    }

    private void run(DataDirectory from) {
        from.notices().forEach(notice -> LOG.warning("data directory", "directory", from.path(), "notice", notice));
        RowJournal journal = instance.journal();
        journal.notices().forEach(notice -> LOG.warning("log of rows", "directory", from.path(), "notice", notice));
        catalogStore.usedRows(journal.kept().greatest());
        instance.definitionLock().lock();
        try (Session session = database.session()) {
            from.catalog().access().roles().forEach(statement -> run(session, statement));
            from.catalog()
                    .settings()
                    .forEach((name, value) -> run(session, "SET " + name + " = " + Identifiers.quoteText(value)));
            restore(session, List.copyOf(from.catalog().objects()));
            from.catalog().access().grants().forEach(statement -> run(session, statement));
            journal.begin();
            catalogStore.begin();
        } finally {
            instance.definitionLock().unlock();
        }
        int lost = catalogStore.notRestored().size();
        LOG.info(
                "definitions restored",
                "directory",
                from.path(),
                "objects",
                from.catalog().objects().size() - lost,
                "not_restored",
                lost,
                "changes_of_rows",
                rows);
    }

    /** Once more what failed, as long as that helps: an object that was missing may have been made anew, later. */
    private void restore(Session session, List<KeptObject> objects) {
        List<KeptObject> failed = objects;
        int before;
        do {
            before = failed.size();
            int done = 0;
            long toldNanos = clock.nanoTime();
            progress.restored(done, before);
            for (KeptObject object : failed) {
                catalogStore.restoring(object, () -> restore(session, object));
                progress.restored(++done, before);
                if (clock.nanoTime() - toldNanos >= TELL_NANOS) {
                    toldNanos = clock.nanoTime();
                    LOG.info("restoring definitions", "done", done, "of", before);
                }
            }
            failed = failed.stream()
                    .filter(object -> catalogStore.notRestored().containsKey(object.name()))
                    .toList();
        } while (!failed.isEmpty() && failed.size() < before);
        for (CatalogStore.NotRestored lost : catalogStore.notRestored().values()) {
            LOG.warning(
                    "not restored",
                    "name",
                    lost.name(),
                    "kind",
                    lost.kind(),
                    "sqlstate",
                    lost.why().sqlState().code(),
                    "reason",
                    lost.why().getMessage());
        }
    }

    private void restore(Session session, KeptObject object) {
        session.execute(object.sql()).drain();
        object.rows().ifPresent(number -> restoreRows(object.name(), number));
        Roles roles = instance.catalog().roles();
        if (roles.find(object.owner()).isPresent()) {
            roles.setOwner(object.name(), object.owner());
        }
        if (object.paused()) {
            instance.standing(object.name()).ifPresent(StandingQuery::pause);
        }
    }

    private void restoreRows(String name, long number) {
        KeptRows kept = instance.journal().kept();
        if (kept.entries(number) > 0) {
            try (RestoredTable table =
                    new RestoredTable(instance, instance.catalog().require(ObjectKind.TABLE, name))) {
                rows += table.read(kept, number);
            }
        }
    }

    /** Runs a statement about roles, which may be about what could not be restored. */
    private static void run(Session session, String statement) {
        try {
            session.execute(statement).drain();
        } catch (MillraceException e) {
            LOG.warning(
                    "a privilege or setting was not restored",
                    "sqlstate",
                    e.sqlState().code(),
                    "reason",
                    e.getMessage());
        }
    }
}
