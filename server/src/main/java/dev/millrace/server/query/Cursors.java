package dev.millrace.server.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.names.SessionObjects;
import dev.millrace.server.names.SessionObjects.OpenCursor;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.statement.Movement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * DECLARE, FETCH, MOVE and CLOSE. A cursor goes with its transaction unless it is WITH HOLD; one for SUBSCRIBE may also be
 * declared outside of one, and then lives until it is closed or the session ends.
 */
public final class Cursors {
    private static final int MOST = 1000;
    private static final long MOST_KEPT_UNASKED = 16L << 20; // bytes, of a cursor that is neither SCROLL nor NO SCROLL

    private final Queries queries;
    private final Subscriptions subscriptions;
    private final Transactions transactions;
    private final Cancellation cancellation;
    private final Instance database;
    private final SessionObjects objects;
    private final Map<String, OpenCursor> described = new LinkedHashMap<>();
    private final Map<String, Cursor> cursors = new LinkedHashMap<>();

    public Cursors(
            Instance database,
            Queries queries,
            Subscriptions subscriptions,
            Transactions transactions,
            Cancellation cancellation,
            SessionObjects objects) {
        this.objects = objects;
        objects.cursors(this::all);
        this.database = database;
        this.queries = queries;
        this.subscriptions = subscriptions;
        this.transactions = transactions;
        this.cancellation = cancellation;
    }

    private Collection<OpenCursor> all() {
        described.keySet().retainAll(cursors.keySet());
        return described.values();
    }

    /** @param text of the statement */
    public Command declare(Statement.DeclareCursor declare, String text) {
        boolean subscribes = declare.source() instanceof Statement.Subscribe;
        if (!transactions.isUnderWay() && !declare.hold() && !subscribes) {
            throw MillraceException.user(
                            SqlState.NO_ACTIVE_SQL_TRANSACTION, "DECLARE CURSOR can only be used in transaction blocks")
                    .withHint("BEGIN first, or DECLARE ... CURSOR WITH HOLD");
        }
        if (cursors.containsKey(declare.name()) || objects.portals().contains(declare.name())) {
            throw MillraceException.user(SqlState.DUPLICATE_CURSOR, "cursor \"" + declare.name() + "\" already exists");
        }
        if (cursors.size() >= MOST) {
            throw MillraceException.resources(
                    SqlState.CONFIGURATION_LIMIT_EXCEEDED, "a session has at most " + MOST + " cursors");
        }
        Cursor.Back back = back(declare);
        StatementResult source = subscribes
                ? subscriptions.subscribe((Statement.Subscribe) declare.source())
                : queries.select((Statement.Select) declare.source());
        boolean stays = declare.hold() || subscribes && !transactions.isExplicit();
        Cursor cursor =
                new Cursor(source, stays, back, cancellation, database.engine().allocator(), database.clock());
        if (!transactions.isUnderWay()) {
            cursor.hold(); // no transaction that fails later is its own
        }
        cursors.put(declare.name(), cursor);
        long now = database.clock().epochMicros();
        described.put(
                declare.name(), new OpenCursor(declare.name(), text, declare.hold(), false, back.mostBytes() > 0, now));
        return Command.of("DECLARE CURSOR");
    }

    private Cursor.Back back(Statement.DeclareCursor declare) {
        if (declare.source() instanceof Statement.Subscribe) {
            if (declare.scroll().orElse(false)) {
                throw MillraceException.user(
                                SqlState.FEATURE_NOT_SUPPORTED, "a cursor for SUBSCRIBE only moves forward")
                        .withHint("DECLARE " + declare.name() + " NO SCROLL CURSOR FOR ...");
            }
            return Cursor.Back.NEVER;
        }
        if (declare.scroll().isEmpty()) {
            return new Cursor.Back(Math.min(MOST_KEPT_UNASKED, queries.limits().mostBytes()), false);
        }
        return declare.scroll().get() ? new Cursor.Back(queries.limits().mostBytes(), true) : Cursor.Back.NEVER;
    }

    private Cursor cursor(String name) {
        Cursor cursor = cursors.get(name);
        if (cursor == null) {
            throw MillraceException.user(SqlState.INVALID_CURSOR_NAME, "cursor \"" + name + "\" does not exist");
        }
        return cursor;
    }

    /** The columns that FETCH gives. */
    public Schema schema(String name) {
        return ofProtocol(name) ? objects.portals().schema(name) : cursor(name).schema();
    }

    private boolean ofProtocol(String name) {
        return !cursors.containsKey(name) && objects.portals().contains(name);
    }

    public boolean contains(String name) {
        return cursors.containsKey(name);
    }

    /** Closes a cursor if there is one of that name. */
    public void drop(String name) {
        Optional.ofNullable(cursors.remove(name)).ifPresent(Cursor::close);
    }

    public StatementResult fetch(Statement.Fetch fetch) {
        Movement movement = fetch.movement();
        StatementResult.Rows rows = ofProtocol(fetch.cursor())
                ? ofPortal(fetch.cursor(), movement)
                : cursor(fetch.cursor()).fetch(movement, fetch.timeoutMicros());
        if (!fetch.move()) {
            return rows;
        }
        long moved = 0;
        try (rows) {
            for (var batch = rows.next(); batch.isPresent(); batch = rows.next()) {
                moved += batch.get().rowCount();
                batch.get().close();
            }
        }
        return Command.of("MOVE", moved);
    }

    private StatementResult.Rows ofPortal(String name, Movement movement) {
        if (movement.direction() != Movement.Direction.FORWARD) {
            throw MillraceException.user(SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
                    .withHint("DECLARE makes one that also goes back");
        }
        return objects.portals().fetch(name, movement.rows());
    }

    public Command close(Statement.CloseCursor close) {
        if (close.cursor().isEmpty()) {
            closeAll();
            objects.portals().closeAll();
            return Command.of("CLOSE CURSOR ALL");
        }
        String name = close.cursor().get();
        if (ofProtocol(name)) {
            objects.portals().close(name);
        } else {
            cursor(name).close();
            cursors.remove(name);
        }
        return Command.of("CLOSE CURSOR");
    }

    /** The transaction ended, and with it the cursors that do not outlive it. */
    public void endTransaction(boolean committed) {
        List<String> ended = new ArrayList<>();
        cursors.forEach((name, cursor) -> {
            if (committed ? !cursor.stays() : !cursor.isHeld()) {
                ended.add(name);
            }
        });
        for (String name : ended) {
            drop(name);
        }
        if (committed) {
            cursors.values().forEach(Cursor::hold);
        }
    }

    public void closeAll() {
        cursors.values().forEach(Cursor::close);
        cursors.clear();
    }
}
