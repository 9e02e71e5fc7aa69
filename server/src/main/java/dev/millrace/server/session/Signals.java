package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.role.Roles;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * How one session stops others: what {@code pg_cancel_backend}, {@code pg_terminate_backend} and {@code pg_backend_pid} are
 * short for. They are called by the threads that make rows, and found by the session's.
 */
final class Signals {
    private static final String PROCESS = "session_process";

    private static final int MOST_WARNINGS = 100; // that wait to be told; there may be one for each row
    private static final long LOOK_MILLIS = 5;

    /** Less than what a call of a function may take. */
    private static final long LONGEST_WAIT_MILLIS = 8_000;

    private static final Field PID = new Field("pid", DataType.INTEGER, true);
    private static final Field TIMEOUT = new Field("timeout", DataType.BIGINT, true);

    private final Database database;
    private final Session session;
    private final Identity identity;
    private final OwnFunctions functions;
    private final Queue<String> warnings = new ArrayBlockingQueue<>(MOST_WARNINGS);

    Signals(Database database, Session session, Identity identity, OwnFunctions functions) {
        this.database = database;
        this.session = session;
        this.identity = identity;
        this.functions = functions;
    }

    Optional<UserFunction> function(String name) {
        return switch (name) {
            case PROCESS -> Optional.of(UserFunction.expression(name, String.valueOf(session.process())));
            case SessionUse.CANCEL ->
                Optional.of(functions.provided(name, List.of(PID), DataType.BOOLEAN, this::cancel));
            case SessionUse.TERMINATE ->
                Optional.of(functions.provided(name, List.of(PID, TIMEOUT), DataType.BOOLEAN, this::terminate));
            default -> Optional.empty();
        };
    }

    private @Nullable Object cancel(Object[] values) {
        if (values[0] == null) {
            return null;
        }
        Optional<Session> target = target((Integer) values[0], "cancel query");
        if (target.isPresent() && target.get() == session) {
            throw Cancellation.cancelled("user request"); // a request might come after the statement's end
        }
        target.ifPresent(Session::cancel);
        return target.isPresent();
    }

    private @Nullable Object terminate(Object[] values) throws InterruptedException {
        if (values[0] == null || values[1] == null) {
            return null;
        }
        int process = (Integer) values[0];
        long millis = (Long) values[1];
        if (millis < 0) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE, "\"timeout\" must not be negative: " + millis);
        }
        Optional<Session> target = target(process, "terminate process");
        if (target.isEmpty()) {
            return false;
        }
        MillraceException why =
                MillraceException.user(SqlState.ADMIN_SHUTDOWN, "terminating connection due to administrator command");
        target.get().steps().end(why);
        if (target.get() == session) {
            throw why.again();
        }
        return millis == 0 || awaitEnd(target.get(), process, Math.min(millis, LONGEST_WAIT_MILLIS));
    }

    private boolean awaitEnd(Session target, int process, long millis) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (database.sessions().contains(target)) {
            Interrupt.checkCurrent();
            if (System.nanoTime() - end >= 0) {
                warnings.offer("backend with PID " + process + " did not terminate within " + millis + " milliseconds");
                return false;
            }
            Thread.sleep(LOOK_MILLIS);
        }
        return true;
    }

    /** @throws MillraceException 42501 if the session's role may not stop it */
    private Optional<Session> target(int process, String act) {
        Optional<Session> found = database.sessions().stream()
                .filter(each -> each.isProcess(process))
                .findFirst();
        if (found.isEmpty()) {
            warnings.offer("PID " + process + " is not a PostgreSQL backend process");
            return found;
        }
        Roles roles = database.catalog().roles();
        String role = identity.current();
        String of = found.get().role();
        boolean ofSuperuser = roles.isSuperuser(of);
        boolean may = roles.isSuperuser(role)
                || !ofSuperuser && (roles.hasPrivilegesOf(role, of) || roles.hasPrivilegesOf(role, Roles.SIGNAL));
        if (!may) {
            throw MillraceException.user(SqlState.INSUFFICIENT_PRIVILEGE, "permission denied to " + act)
                    .withHint(
                            ofSuperuser
                                    ? "only superusers may, as it is a superuser's"
                                    : "who has the privileges of its role or of " + Roles.SIGNAL + " may");
        }
        return found;
    }

    /** Says what calls had to say; on the session's thread. */
    void tell(Consumer<String> notices) {
        for (String warning = warnings.poll(); warning != null; warning = warnings.poll()) {
            notices.accept(warning);
        }
    }
}
