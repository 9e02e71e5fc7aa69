package dev.millrace.server.session;

import dev.millrace.server.transaction.TransactionState;
import dev.millrace.time.Clock;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a session is at, as {@code pg_stat_activity} shows it. Written by the session's thread, a few fields a statement; read by
 * any, who may see a statement's text a moment before its time.
 */
final class Activity {
    static final int MOST_CHARACTERS = 1024; // of a statement's text, as PostgreSQL keeps

    /** A session as others see it; times are in microseconds since 1970, 0 for none. */
    record Seen(
            String state,
            String query,
            String application,
            Optional<InetSocketAddress> client,
            long startMicros,
            long transactionMicros,
            long queryMicros,
            long changedMicros) {
        boolean isActive() {
            return state.equals(ACTIVE);
        }
    }

    /** From where on a text is not shown. */
    private static final Pattern SECRET = Pattern.compile("(?is)\\b(secret|password)\\b.*'.*");

    private static final String ACTIVE = "active";
    private static final String IDLE = "idle";

    private final Clock clock;
    private final long startMicros;
    private volatile Optional<InetSocketAddress> client = Optional.empty(); // written once, by who serves it
    private String query = ""; // this and what follows is published by state
    private String application = "";
    private long transactionMicros;
    private long queryMicros;
    private long changedMicros;
    private volatile String state = IDLE;

    Activity(Clock clock) {
        this.clock = clock;
        this.startMicros = clock.epochMicros();
        this.changedMicros = startMicros;
    }

    /** Says where the client is. */
    void client(SocketAddress address) {
        client = address instanceof InetSocketAddress internet ? Optional.of(internet) : Optional.empty();
    }

    /** A statement begins, or the text of several is read. */
    void begins(String text) {
        String shown = text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS);
        query = SECRET.matcher(shown).replaceFirst("$1 ..");
        queryMicros = clock.epochMicros();
        changedMicros = queryMicros;
        if (transactionMicros == 0) {
            transactionMicros = queryMicros;
        }
        state = ACTIVE;
    }

    /** The statement has ended. */
    void ends(TransactionState transaction, String applicationName) {
        boolean wasActive = state.equals(ACTIVE);
        if (wasActive) {
            changedMicros = clock.epochMicros();
        }
        application = applicationName;
        if (transaction == TransactionState.IDLE) {
            transactionMicros = 0;
        }
        state = switch (transaction) {
            case IDLE -> IDLE;
            case ACTIVE -> "idle in transaction";
            case FAILED -> "idle in transaction (aborted)";
        };
    }

    /** On any thread. */
    Seen see() {
        String now = state;
        return new Seen(now, query, application, client, startMicros, transactionMicros, queryMicros, changedMicros);
    }
}
