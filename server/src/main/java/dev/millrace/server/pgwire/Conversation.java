package dev.millrace.server.pgwire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.group.KnownQuery;
import dev.millrace.server.pgwire.message.ClientMessage;
import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.server.planning.AdHoc;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Session;
import dev.millrace.server.transaction.TransactionState;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Answers a client's messages, one after the other, on its session's thread, or at once on the event loop; never on both at
 * the same time.
 *
 * <pre>
 *            error                    Sync
 *   READY ------------> SKIPPING ------------> READY        (extended query; a simple query is always answered whole)
 * </pre>
 */
final class Conversation implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(Conversation.class.getPackageName());

    /** Characters of an INSERT that is executed on an event loop, where others wait: some tenths of a millisecond. */
    private static final int MOST_AT_ONCE = 32 << 10;

    private static final int MOST_AHEAD = 64; // definitions that are made together

    /** The result of a message that is yet to be answered. */
    private record MadeAhead(String sql, Supplier<StatementResult> result) {}

    private final Session session;
    private final Inbox inbox;
    private final Outgoing out;
    private final ExtendedQuery extended;
    private final CopyExchange copies;
    private final ReportedSettings reported;
    private Optional<Session.Acceptance> accepted = Optional.empty(); // what is to be acknowledged
    private Optional<Portal> portal = Optional.empty(); // that accepted it; none for a simple query
    private final Deque<MadeAhead> ahead = new ArrayDeque<>(); // of the messages that are next
    private boolean skipping;
    private boolean over; // the client was told that its session ended

    Conversation(Session session, Inbox inbox, Outgoing out, ReportedSettings reported) {
        this.reported = reported;
        this.inbox = inbox;
        this.session = session;
        this.out = out;
        this.copies = new CopyExchange(session, inbox, out);
        this.extended = new ExtendedQuery(this, session, out);
        session.onNotice(notice -> ServerMessages.notice(out.buffer(), notice));
    }

    /** Before a statement of the extended protocol: with more to come before Sync they take effect together. */
    void beginUnlessAlone() {
        if (!inbox.isSyncNext()) {
            session.beginTogether();
        }
    }

    /**
     * Whether the answer is short, and waits for nobody: nothing is read from the engine, no transaction ends, no result has
     * to be closed, and the client takes what it is sent.
     */
    boolean answersAtOnce(ClientMessage message) {
        return !skipping && out.keepsUp() && (answersQueryAtOnce(message) || extended.answersAtOnce(message));
    }

    private boolean answersQueryAtOnce(ClientMessage message) {
        if (message instanceof ClientMessage.Query query) {
            if (isInsert(query)) {
                return false; // which is never answered from memory: that costs more to find out than to insert
            }
            Optional<List<ParsedStatement>> statements = session.remembered(query.sql());
            if (statements.isPresent()) {
                return statements.get().size() == 1
                        && session.answersAtOnce(statements.get().get(0))
                        && canEnd();
            }
            return session.adHocAtHand(query.sql())
                            .filter(known -> session.answersAtOnce(known.statement()))
                            .isPresent()
                    && canEnd();
        }
        return message instanceof ClientMessage.Sync && canEnd();
    }

    /**
     * Has rows of an INSERT accepted here and now, where nobody has to be waited for; {@link #acknowledge} follows, or {@link #awaitDisk}. Until
     * then no other message is answered.
     *
     * @return what has to be on disk before the client hears of it (0: nothing); empty for any other message
     */
    OptionalLong accept(ClientMessage message) {
        if (skipping
                || !(message instanceof ClientMessage.Query query)
                || query.sql().length() > MOST_AT_ONCE
                || !isInsert(query)
                || !out.keepsUp()
                || !canEnd()) {
            return OptionalLong.empty();
        }
        return accept(() -> session.insertAtOnce(query.sql()), Optional.empty());
    }

    /** Whether {@link #accept(ClientMessage.Execute)} may take a message, if a Sync follows it. */
    boolean mayAccept(ClientMessage.Execute message) {
        return !skipping && extended.insert(message).isPresent();
    }

    /** The same of an Execute with a Sync behind it: both are answered. */
    OptionalLong accept(ClientMessage.Execute message) {
        Optional<Portal> portal = extended.insert(message);
        if (skipping || portal.isEmpty() || !out.keepsUp() || !canEnd()) {
            return OptionalLong.empty();
        }
        return accept(
                () -> session.insertAtOnce(
                        portal.get().prepared().statement().orElseThrow(),
                        portal.get().parameters()),
                portal);
    }

    private OptionalLong accept(Supplier<Optional<Session.Acceptance>> insert, Optional<Portal> executed) {
        session.clientSpeaks();
        try {
            accepted = insert.get();
        } catch (MillraceException e) {
            report(e);
            ready();
            return OptionalLong.of(0);
        }
        portal = executed;
        return accepted.map(rows -> OptionalLong.of(rows.entry())).orElseGet(OptionalLong::empty);
    }

    private static boolean isInsert(ClientMessage.Query query) {
        return query.sql().regionMatches(true, 0, "insert", 0, "insert".length());
    }

    /** What was accepted is on disk: answers. */
    void acknowledge() {
        if (accepted.isPresent()) { // else its error was told
            try (StatementResult result = accepted.get().result()) {
                accepted = Optional.empty();
                portal.ifPresentOrElse(Portal::finish, extended::closeUnnamed);
                portal = Optional.empty();
                complete(result);
                if (session.transactionState() == TransactionState.IDLE) {
                    extended.closePortals();
                }
                ready();
            }
        }
    }

    /** What was accepted is not on disk for long: waits for that on the session's thread, and answers. */
    void awaitDisk() {
        try {
            try {
                session.awaitDurable(accepted.orElseThrow().entry());
            } catch (RuntimeException | AssertionError e) {
                accepted.ifPresent(rows -> rows.result().close());
                accepted = Optional.empty();
                portal = Optional.empty();
                report(e);
                ready();
            }
            acknowledge();
        } catch (RuntimeException | AssertionError e) {
            report(e); // as the client is gone
        }
    }

    private boolean canEnd() {
        return !session.isTogether() && !extended.hasResults();
    }

    /**
     * Answers one message, and closes it.
     *
     * @return false when the client said farewell or cannot be understood any more
     */
    boolean answer(ClientMessage message) {
        try {
            return handle(message) && !over;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            skipping = true;
            report(e);
            return !over;
        } finally {
            message.close();
        }
    }

    private boolean handle(ClientMessage message) {
        session.clientSpeaks();
        if (message instanceof ClientMessage.Terminate) {
            return false;
        } else if (message instanceof ClientMessage.Ended ended) {
            farewell(ended.why());
            return false;
        } else if (message instanceof ClientMessage.Malformed malformed) {
            ServerMessages.error(
                    out.buffer(), "FATAL", MillraceException.user(SqlState.PROTOCOL_VIOLATION, malformed.reason()));
            return false;
        } else if (message instanceof ClientMessage.Sync) {
            skipping = false;
            sync();
        } else if (message instanceof ClientMessage.Flush) {
            out.flush(); // also of an error: a client that waits for it does not send a Sync before
        } else if (skipping) {
            return true;
        } else if (message instanceof ClientMessage.Query query) {
            simpleQuery(query.sql());
        } else if (message instanceof ClientMessage.Unreadable unreadable) {
            unreadable(unreadable);
        } else if (message instanceof ClientMessage.Parse parse) {
            extended.parse(parse);
        } else if (message instanceof ClientMessage.Bind bind) {
            extended.bind(bind);
        } else if (message instanceof ClientMessage.Describe describe) {
            extended.describe(describe);
        } else if (message instanceof ClientMessage.Execute execute) {
            extended.execute(execute);
        } else if (message instanceof ClientMessage.Close close) {
            extended.close(close);
        } else if (isCopy(message)) {
            return true; // what is left of a copy that failed
        } else {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION,
                    "unexpected message " + message.getClass().getSimpleName());
        }
        return true;
    }

    private static boolean isCopy(ClientMessage message) {
        return message instanceof ClientMessage.CopyData
                || message instanceof ClientMessage.CopyRefused
                || message instanceof ClientMessage.CopyDone
                || message instanceof ClientMessage.CopyFail;
    }

    /** Tells the client; what is a defect of ours is logged with its trace, and the session goes on. */
    private void report(Throwable error) {
        session.fail();
        if (session.endedBy().isPresent()) {
            farewell(session.endedBy().get()); // it is why the statement failed
            return;
        }
        if (!(error instanceof MillraceException)) {
            LOG.log(System.Logger.Level.ERROR, "internal error", error);
        }
        ServerMessages.error(
                out.buffer(),
                "ERROR",
                error instanceof MillraceException known
                        ? known
                        : MillraceException.internal("internal error: " + error, error));
        out.sendIfMuch();
    }

    private void farewell(MillraceException why) {
        if (!over) {
            over = true;
            ServerMessages.error(out.buffer(), "FATAL", why);
        }
    }

    private void sync() {
        try {
            session.endTogether();
        } catch (MillraceException e) {
            report(e);
        }
        if (session.transactionState() == TransactionState.IDLE) {
            extended.closePortals(); // they live as long as their transaction
        }
        ready();
    }

    private void ready() {
        if (over) {
            return;
        }
        reported.report(out.buffer());
        session.clientListens();
        ServerMessages.readyForQuery(
                out.buffer(),
                switch (session.transactionState()) {
                    case IDLE -> ServerMessages.TransactionState.IDLE;
                    case ACTIVE -> ServerMessages.TransactionState.IN_TRANSACTION;
                    case FAILED -> ServerMessages.TransactionState.FAILED;
                });
        out.flush();
    }

    private void simpleQuery(String sql) {
        extended.closeUnnamed();
        try {
            answer(sql);
            session.endTogether();
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            report(e);
        }
        if (session.transactionState() == TransactionState.IDLE) {
            extended.closePortals();
        }
        ready();
    }

    private void answer(String sql) {
        Optional<StatementResult> made = made(sql);
        if (made.isPresent()) {
            complete(made.get());
            return;
        }
        Optional<AdHoc> known = session.adHoc(sql);
        Optional<StatementResult> done = known.flatMap(session::execute);
        if (done.isPresent()) {
            send(known.get().statement(), done.get());
        } else {
            execute(session.parse(sql));
        }
    }

    /** The result of a definition whose form is known, if it is one; with it are made those that the client sent behind it. */
    private Optional<StatementResult> made(String sql) {
        MadeAhead first = ahead.poll();
        if (first != null && first.sql.equals(sql)) {
            return Optional.of(first.result.get());
        }
        ahead.clear();
        Optional<KnownQuery> query = session.known(sql);
        if (query.isEmpty()) {
            return Optional.empty();
        }
        List<String> texts = new ArrayList<>();
        List<KnownQuery> next = new ArrayList<>();
        for (ClientMessage message : inbox.waiting(MOST_AHEAD)) {
            Optional<KnownQuery> known =
                    message instanceof ClientMessage.Query text ? session.known(text.sql()) : Optional.empty();
            if (known.isEmpty()) {
                break;
            }
            texts.add(((ClientMessage.Query) message).sql());
            next.add(known.get());
        }
        return session.execute(query.get(), next, result -> ahead.add(new MadeAhead(texts.get(ahead.size()), result)));
    }

    private void execute(List<ParsedStatement> statements) {
        if (statements.isEmpty()) {
            ServerMessages.emptyQueryResponse(out.buffer());
        }
        for (ParsedStatement statement : statements) {
            if (statements.size() > 1) {
                session.beginTogether();
            }
            send(statement, session.execute(statement, Parameters.none()));
        }
    }

    /** A text that is no UTF-8 is an error of its message, like one of syntax. */
    private void unreadable(ClientMessage.Unreadable message) {
        if (!message.simple()) {
            throw message.why();
        }
        extended.closeUnnamed();
        report(message.why());
        if (session.transactionState() == TransactionState.IDLE) {
            extended.closePortals();
        }
        ready();
    }

    /** Sends the result of a statement, and closes it. */
    private void send(ParsedStatement statement, StatementResult given) {
        try (StatementResult result = given) {
            Optional<Schema> columns = ResultBatches.schemaOf(result);
            if (columns.isEmpty()) {
                complete(result);
                return;
            }
            boolean[] text = new boolean[columns.get().size()];
            ServerMessages.rowDescription(out.buffer(), columns.get(), text);
            try (RowStream rows = new RowStream(result, text, session)) {
                complete(statement, session.goOn(() -> rows.send(out, 0)));
            } finally {
                session.endStatement();
            }
        }
    }

    /** Ends a statement without rows; a copy is made before. */
    void complete(StatementResult result) {
        String tag;
        if (result instanceof StatementResult.CopyIn copy) {
            tag = "COPY " + session.goOn(() -> copies.in(copy));
        } else if (result instanceof StatementResult.CopyOut copy) {
            tag = "COPY " + session.goOn(() -> copies.out(copy));
        } else {
            tag = result.toString();
        }
        ServerMessages.commandComplete(out.buffer(), tag);
    }

    /** Ends a statement that gave rows. */
    void complete(ParsedStatement statement, long rows) {
        String word = verb(statement);
        String tag = switch (word) {
            case "INSERT" -> "INSERT 0 " + rows;
            case "FETCH", "SUBSCRIBE", "UPDATE", "DELETE", "MERGE" -> word + " " + rows;
            case "SHOW", "EXPLAIN", "DESCRIBE" -> word;
            default -> "SELECT " + rows;
        };
        ServerMessages.commandComplete(out.buffer(), tag);
    }

    /** INSERT, UPDATE, DELETE and MERGE, which may have WITH before them, and otherwise the first word. */
    private static String verb(ParsedStatement statement) {
        Syntax syntax = statement.syntax() instanceof Syntax.WithChanges with ? with.main() : statement.syntax();
        if (syntax instanceof Syntax.Insert) {
            return "INSERT";
        }
        if (syntax instanceof Syntax.Update) {
            return "UPDATE";
        }
        if (syntax instanceof Syntax.Delete) {
            return "DELETE";
        }
        if (syntax instanceof Syntax.Merge) {
            return "MERGE";
        }
        if (syntax != statement.syntax()) {
            return "SELECT";
        }
        String text = statement.text();
        int end = 0;
        while (end < text.length() && Character.isLetter(text.charAt(end))) {
            end++;
        }
        return text.substring(0, end).toUpperCase(Locale.ROOT);
    }

    @Override
    public void close() {
        extended.close();
        session.close();
        out.close();
    }
}
