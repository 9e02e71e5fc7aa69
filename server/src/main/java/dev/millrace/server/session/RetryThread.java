package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.sql.text.Identifiers;

/** The thread {@code millrace-retries}, which begins queries anew that failed of what may pass, as their owners. */
final class RetryThread implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("queries");
    private static final long LOOK_MILLIS = 250;

    private final Database database;
    private final Thread thread = new Thread(this::run, "millrace-retries");
    private final Interrupt interrupt = new Interrupt(); // of whatever it waits for
    private volatile boolean closed; // written by who closes, read by the thread

    RetryThread(Database database) {
        this.database = database;
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        Instance instance = database.instance();
        while (!closed) {
            try (Interrupt.Binding binding = interrupt.bind()) {
                Thread.sleep(LOOK_MILLIS);
                for (CatalogObject object : instance.retries().due()) {
                    retry(instance, object);
                }
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) { // of any kind: the others are tried all the same
                if (!closed) {
                    LOG.warning("a failed query is not begun anew", "reason", String.valueOf(e.getMessage()));
                }
            }
        }
    }

    private void retry(Instance instance, CatalogObject object) {
        boolean counts = true;
        try (Session session = database.session(instance.catalog().roles().owner(object.name()))) {
            session.onNotice(notice -> LOG.warning("begins anew", "name", object.name(), "notice", notice));
            session.execute("RESUME " + object.kind().sqlName() + " " + Identifiers.quote(object.name()))
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

    /** Ends the thread, and waits for what it is at to notice. */
    @Override
    public void close() {
        closed = true;
        interrupt.stop(MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the database is closed"));
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
