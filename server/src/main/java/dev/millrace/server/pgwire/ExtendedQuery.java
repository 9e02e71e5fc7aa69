package dev.millrace.server.pgwire;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.heap.StatementSize;
import dev.millrace.server.names.ProtocolPortals;
import dev.millrace.server.names.SessionObjects;
import dev.millrace.server.pgwire.message.ClientMessage;
import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.server.pgwire.value.BinaryParameter;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.PreparedStatements;
import dev.millrace.server.session.Session;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.text.Utf8Text;
import dev.millrace.type.Schema;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Prepared statements and portals: Parse, Bind, Describe, Execute, Close. Belongs to the session's thread. */
final class ExtendedQuery implements ProtocolPortals, AutoCloseable {
    private static final int MOST_NAMED = 10_000;
    private static final String UNNAMED = "";
    private static final int PORTAL_BYTES = 300; // of the Java heap
    private static final int VALUE_BYTES = 80;

    private final Conversation conversation;
    private final Session session;
    private final Outgoing out;
    private final Map<String, PreparedStatement> statements = new HashMap<>();
    private final Map<String, Portal> portals = new HashMap<>();
    private long unnamedBytes; // that were counted for the statement without a name

    ExtendedQuery(Conversation conversation, Session session, Outgoing out) {
        this.conversation = conversation;
        this.session = session;
        this.out = out;
        session.prepared().portals(this);
        session.prepared().onDeallocate(statements::remove);
    }

    /** As {@link Conversation#answersAtOnce} has it, of messages of the extended protocol. */
    boolean answersAtOnce(ClientMessage message) {
        if (isForInsert(message)) {
            return true;
        } else if (message instanceof ClientMessage.Parse parse) {
            return session.remembered(parse.sql())
                    .filter(known -> known.size() == 1 && session.answersAtOnce(known.get(0)))
                    .isPresent();
        } else if (message instanceof ClientMessage.Bind bind) {
            Portal replaced = portals.get(bind.portal());
            return answersAtOnce(statements.get(bind.statement())) && (replaced == null || !replaced.hasResult());
        } else if (message instanceof ClientMessage.Describe describe && !describe.isPortal()) {
            return answersAtOnce(statements.get(describe.name()));
        } else if (message instanceof ClientMessage.Describe describe) {
            return answersAtOnce(portals.get(describe.name()));
        } else if (message instanceof ClientMessage.Execute execute) {
            return answersAtOnce(portals.get(execute.portal()));
        }
        return false;
    }

    private boolean answersAtOnce(@Nullable Portal portal) {
        return portal != null && answersAtOnce(portal.prepared());
    }

    private boolean answersAtOnce(@Nullable PreparedStatement prepared) {
        return prepared != null
                && prepared.statement().filter(session::answersAtOnce).isPresent();
    }

    /** Whether a message only says what an INSERT is to be executed with, which is executed at once, too. */
    private boolean isForInsert(ClientMessage message) {
        if (message instanceof ClientMessage.Bind bind) {
            return insertsAtOnce(statements.get(bind.statement()));
        }
        Portal portal = message instanceof ClientMessage.Describe describe && describe.isPortal()
                ? portals.get(describe.name())
                : null;
        return portal != null && insertsAtOnce(portal.prepared());
    }

    private boolean insertsAtOnce(@Nullable PreparedStatement prepared) {
        return prepared != null
                && prepared.isDescribed()
                && prepared.statement().filter(session::insertsAtOnce).isPresent();
    }

    /** The portal that a message executes, if that is an INSERT that may be executed at once. */
    Optional<Portal> insert(ClientMessage.Execute message) {
        return Optional.ofNullable(portals.get(message.portal()))
                .filter(portal -> !portal.isFinished() && insertsAtOnce(portal.prepared()));
    }

    /** Whether a portal has rows left, so that closing it may take its time. */
    boolean hasResults() {
        for (Portal portal : portals.values()) {
            if (portal.hasResult()) {
                return true;
            }
        }
        return false;
    }

    void parse(ClientMessage.Parse message) {
        String name = message.statement();
        if (!name.equals(UNNAMED) && session.prepared().contains(name)) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_PREPARED_STATEMENT, "prepared statement \"" + name + "\" already exists");
        }
        if (name.equals(UNNAMED)) {
            forgetUnnamed(); // it is replaced even by one that is wrong
        }
        requireRoom(statements.size(), "prepared statements");
        PreparedStatement prepared = PreparedStatement.parse(session, message.sql(), message.parameterTypes());
        if (!name.equals(UNNAMED)) {
            session.prepared().keep(name, prepared.statement(), message.sql(), prepared.declaredTypes());
        } else {
            long bytes = StatementSize.keptUnnamed(message.sql());
            session.kept().keep(bytes);
            unnamedBytes = bytes;
        }
        statements.put(name, prepared);
        ServerMessages.parseComplete(out.buffer());
    }

    private static void requireRoom(int used, String what) {
        if (used >= MOST_NAMED) {
            throw MillraceException.resources(
                    SqlState.CONFIGURATION_LIMIT_EXCEEDED, "a session has at most " + MOST_NAMED + " " + what);
        }
    }

    void bind(ClientMessage.Bind message) {
        PreparedStatement prepared = statement(message.statement());
        prepared.statement().ifPresent(session.prepared()::requireUsable);
        int count = message.values().size();
        if (count != prepared.parameterCount()) {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION,
                    "bind message supplies " + count + " parameters, but prepared statement \"" + message.statement()
                            + "\" requires " + prepared.parameterCount());
        }
        String name = message.portal();
        if (!name.equals(UNNAMED)
                && (portals.containsKey(name) || session.prepared().hasCursor(name))) {
            throw MillraceException.user(SqlState.DUPLICATE_CURSOR, "portal \"" + name + "\" already exists");
        }
        requireRoom(portals.size(), "portals");
        closePortal(name);
        List<Optional<String>> values = texts(message, prepared);
        Portal portal = new Portal(
                prepared,
                Parameters.of(prepared.declaredTypes(), values),
                message.binaryResults(),
                session.database().clock().epochMicros(),
                bytes(values));
        session.kept().keep(portal.bytes());
        portals.put(name, portal);
        ServerMessages.bindComplete(out.buffer());
    }

    /** About what the values of a portal take on the Java heap. */
    private static long bytes(List<Optional<String>> values) {
        long bytes = PORTAL_BYTES;
        for (int i = 0; i < values.size(); i++) {
            Optional<String> value = values.get(i);
            bytes += VALUE_BYTES + (value.isPresent() ? 2L * value.get().length() : 0);
        }
        return bytes;
    }

    private List<Optional<String>> texts(ClientMessage.Bind message, PreparedStatement prepared) {
        List<Boolean> binary = message.binaryParameters();
        if (binary.size() > 1 && binary.size() != message.values().size()) {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION,
                    "bind message has " + binary.size() + " parameter formats but "
                            + message.values().size() + " parameters");
        }
        List<Optional<String>> texts = new ArrayList<>();
        for (int i = 0; i < message.values().size(); i++) {
            Optional<ByteBuf> value = message.values().get(i);
            boolean inBinary = !binary.isEmpty() && binary.get(binary.size() == 1 ? 0 : i);
            int number = i + 1;
            texts.add(
                    value.isEmpty()
                            ? Optional.empty()
                            : Optional.of(
                                    inBinary
                                            ? BinaryParameter.text(
                                                    prepared.encodedType(i), value.get(), number, session.allocator())
                                            : Utf8Text.decode(value.get().nioBuffer())));
        }
        return texts;
    }

    void describe(ClientMessage.Describe message) {
        if (message.isPortal()) {
            if (isCursor(message.name())) {
                ParsedStatement fetch = fetch(message.name(), 0);
                Optional<Schema> columns =
                        session.prepared().describe(fetch, List.of()).columns();
                columns(columns, columns.map(schema -> new boolean[schema.size()]));
                return;
            }
            Portal portal = portal(message.name());
            Optional<Schema> columns = portal.prepared().columns();
            columns(columns, columns.map(portal::binaryColumns));
            return;
        }
        PreparedStatement prepared = statement(message.name());
        Optional<Schema> columns = prepared.columns();
        ServerMessages.parameterDescription(out.buffer(), prepared.parameterOids());
        columns(columns, columns.map(schema -> new boolean[schema.size()]));
    }

    private void columns(Optional<Schema> columns, Optional<boolean[]> binary) {
        if (columns.isPresent()) {
            ServerMessages.rowDescription(out.buffer(), columns.get(), binary.orElseThrow());
        } else {
            ServerMessages.noData(out.buffer());
        }
    }

    void execute(ClientMessage.Execute message) {
        if (isCursor(message.portal())) {
            executeCursor(message.portal(), Math.max(0, message.mostRows()));
            return;
        }
        Portal portal = portal(message.portal());
        Optional<ParsedStatement> statement = portal.prepared().statement();
        if (statement.isEmpty()) {
            ServerMessages.emptyQueryResponse(out.buffer());
            return;
        }
        if (portal.isFinished()) {
            conversation.complete(statement.get(), 0);
            return;
        }
        if (portal.rows().isEmpty() && !open(portal, statement.get())) {
            return;
        }
        RowStream rows = portal.rows().orElseThrow();
        long sent = session.goOn(() -> rows.send(out, Math.max(0, message.mostRows())));
        if (message.mostRows() > 0 && !rows.isEnded()) {
            ServerMessages.portalSuspended(out.buffer());
        } else {
            portal.finish();
            session.endStatement(); // what follows it without waiting has its own time
            conversation.complete(statement.get(), sent);
        }
    }

    /** A cursor of DECLARE is a portal as well: psycopg asks what it gives, others fetch from it without FETCH. */
    private boolean isCursor(String name) {
        return !portals.containsKey(name) && session.prepared().hasCursor(name);
    }

    /** @param most 0 for all that are left */
    private ParsedStatement fetch(String cursor, int most) {
        String count = most == 0 ? "ALL" : Integer.toString(most);
        return session.parse("FETCH " + count + " FROM \"" + cursor.replace("\"", "\"\"") + '"')
                .get(0);
    }

    private void executeCursor(String name, int most) {
        StatementResult result = session.execute(fetch(name, most), Parameters.none());
        boolean[] text =
                new boolean[ResultBatches.schemaOf(result).orElseThrow().size()];
        try (RowStream rows = new RowStream(result, text, session)) {
            long sent = session.goOn(() -> rows.send(out, 0));
            if (most > 0 && sent == most) {
                ServerMessages.portalSuspended(out.buffer());
            } else {
                ServerMessages.commandComplete(out.buffer(), "SELECT " + sent);
            }
        } finally {
            session.endStatement();
        }
    }

    /** Runs the statement; false when that was all, as it has no rows. */
    private boolean open(Portal portal, ParsedStatement statement) {
        if (!session.answersAtOnce(statement)) { // which changes nothing that others would have to take effect with
            conversation.beginUnlessAlone();
        }
        StatementResult result = portal.run(session);
        try {
            Optional<Schema> columns = ResultBatches.schemaOf(result);
            if (columns.isPresent()) {
                RowStream rows = new RowStream(result, portal.binaryColumns(columns.get()), session);
                portal.opened(
                        session.settings().get(Setting.SUBSCRIPTION_BEGINS).equals("at_once")
                                ? rows.beginningAtOnce()
                                : rows);
                return true;
            }
            conversation.complete(result);
            portal.finish();
        } catch (RuntimeException e) {
            result.close();
            throw e;
        }
        result.close();
        return false;
    }

    void close(ClientMessage.Close message) {
        if (message.isPortal() && isCursor(message.name())) {
            session.prepared().closeCursor(message.name());
        } else if (message.isPortal()) {
            closePortal(message.name());
        } else {
            forget(message.name());
        }
        ServerMessages.closeComplete(out.buffer());
    }

    private void forget(String statement) {
        if (statement.equals(UNNAMED)) {
            forgetUnnamed();
        } else {
            session.prepared().deallocate(statement); // which tells us
        }
    }

    /** Forgets what has no name, as a simple query does. */
    void closeUnnamed() {
        closePortal(UNNAMED);
        forgetUnnamed();
    }

    private void forgetUnnamed() {
        statements.remove(UNNAMED);
        session.kept().forget(unnamedBytes);
        unnamedBytes = 0;
    }

    void closePortals() {
        portals.values().forEach(this::close);
        portals.clear();
    }

    private void closePortal(String name) {
        Portal portal = portals.remove(name);
        if (portal != null) {
            close(portal);
        }
    }

    private void close(Portal portal) {
        portal.close();
        session.kept().forget(portal.bytes());
    }

    private PreparedStatement statement(String name) {
        PreparedStatement statement = statements.get(name);
        if (statement == null && session.prepared().bySql(name).isPresent()) {
            PreparedStatements.BySql sql = session.prepared().bySql(name).get();
            return PreparedStatement.of(session, sql.statement(), sql.types()); // not kept: SQL may forget it
        }
        if (statement == null) {
            throw MillraceException.user(
                    SqlState.INVALID_SQL_STATEMENT_NAME, "prepared statement \"" + name + "\" does not exist");
        }
        return statement;
    }

    private Portal portal(String name) {
        Portal portal = portals.get(name);
        if (portal == null) {
            throw MillraceException.user(SqlState.INVALID_CURSOR_NAME, "portal \"" + name + "\" does not exist");
        }
        return portal;
    }

    // ---- as SQL sees them ------------------------------------------------------------------------------------------

    @Override
    public boolean contains(String name) {
        Portal portal = portals.get(name);
        return portal != null
                && !name.equals(UNNAMED)
                && portal.prepared().columns().isPresent();
    }

    @Override
    public Schema schema(String name) {
        return Objects.requireNonNull(portals.get(name)).prepared().columns().orElseThrow();
    }

    @Override
    public StatementResult.Rows fetch(String name, long count) {
        Portal portal = Objects.requireNonNull(portals.get(name));
        if (portal.rows().isEmpty() && !portal.isFinished()) {
            StatementResult result = portal.run(session);
            portal.opened(new RowStream(result, portal.binaryColumns(schema(name)), session));
        }
        return portal.rows()
                .map(rows -> rows.take(count, session.allocator()))
                .orElseGet(() -> new NoRows(schema(name)));
    }

    /** What is left of a portal that ran to its end. */
    private record NoRows(Schema schema) implements StatementResult.Rows {
        @Override
        public Optional<Batch> next() {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }

    @Override
    public void close(String name) {
        closePortal(name);
    }

    @Override
    public void closeAll() {
        closePortals();
    }

    @Override
    public Collection<SessionObjects.OpenCursor> all() {
        List<SessionObjects.OpenCursor> all = new ArrayList<>();
        portals.forEach((name, portal) -> {
            if (contains(name)) {
                all.add(new SessionObjects.OpenCursor(
                        name,
                        portal.prepared().statement().map(ParsedStatement::text).orElse(""),
                        false,
                        portal.isBinary(),
                        false,
                        portal.epochMicros()));
            }
        });
        return all;
    }

    @Override
    public void close() {
        closePortals();
        statements.clear();
    }
}
