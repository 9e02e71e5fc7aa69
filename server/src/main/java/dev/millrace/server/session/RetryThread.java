package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.host.BackgroundThread;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.sql.catalog.RelationNames;

/** The thread {@code millrace-retries}, which begins queries anew that failed of what may pass, as their owners. */
final class RetryThread implements BackgroundThread.Step, AutoCloseable {
    private static final EventLog LOG = EventLog.named("queries");
    private static final long LOOK_MILLIS = 250;

    private final Database database;
    private final BackgroundThread thread;

    RetryThread(Database database) {
        this.database = database;
        this.thread = BackgroundThread.start("millrace-retries", LOOK_MILLIS, this);
    }

    @Override
    public long run() {
        Instance instance = database.instance();
        instance.retries().due().forEach(object -> retry(instance, object));
        return LOOK_MILLIS;
    }

    @Override
    public long failed(RuntimeException why) {
        LOG.warning("a failed query is not begun anew", "reason", String.valueOf(why.getMessage()));
        return LOOK_MILLIS;
    }

    private void retry(Instance instance, CatalogObject object) {
        boolean counts = true;
        try (Session session = database.session(instance.catalog().roles().owner(object.name()))) {
            session.readLiterally();
            session.onNotice(notice -> LOG.warning("begins anew", "name", object.name(), "notice", notice));
            session.execute("RESUME " + object.kind().sqlName() + " " + RelationNames.quoted(object.name()))
                    .drain();
            LOG.info("begins anew", "name", object.name());
        } catch (MillraceException e) {
            counts = e.sqlState()
                    != SqlState
                            .OBJECT_NOT_IN_PREREQUISITE_STATE; // that what it reads has failed is no fault of its own
            LOG.warning(
                    "a failed query is not begun anew",
                    "name",
                    object.name(),
                    "sqlstate",
                    e.sqlState().code());
        } finally {
            instance.retries().tried(object.name(), counts);
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
