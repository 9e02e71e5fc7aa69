package dev.millrace.server.pgwire.message;

import dev.millrace.error.MillraceException;
import dev.millrace.server.heap.HeapShare;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a client sends. */
public sealed interface ClientMessage {

    // ---- before a session -----------------------------------------------------------------------------------------

    /** Asks for TLS; answered by one byte. */
    record SslRequest() implements ClientMessage {}

    /** Asks for GSSAPI encryption; answered by one byte. */
    record GssRequest() implements ClientMessage {}

    /** Cancels what another connection does. */
    record CancelRequest(int process, int secret) implements ClientMessage {}

    /** Begins a session. */
    record Startup(int majorVersion, int minorVersion, Map<String, String> parameters) implements ClientMessage {}

    /** An answer to a question about who the client is; the bytes are a secret, so they are not shown. */
    record Credentials(byte[] bytes) implements ClientMessage {
        @Override
        public String toString() {
            return "Credentials[" + bytes.length + " bytes]";
        }
    }

    // ---- simple query ---------------------------------------------------------------------------------------------

    /** A text of any number of statements. */
    record Query(String sql) implements ClientMessage {
        @Override
        public long size() {
            return sql.length();
        }
    }

    // ---- extended query -------------------------------------------------------------------------------------------

    /** Prepares a statement; {@code parameterTypes} may be fewer than there are parameters, 0 leaves one open. */
    record Parse(String statement, String sql, List<Integer> parameterTypes) implements ClientMessage {
        @Override
        public long size() {
            return (long) sql.length() + statement.length() + Integer.BYTES * (long) parameterTypes.size();
        }
    }

    /**
     * Makes a portal of a statement and values.
     *
     * @param values one buffer per parameter, empty for NULL; released by {@link #close}
     * @param binaryParameters none (all text), one for all, or one per parameter
     * @param binaryResults none (all text), one for all, or one per column
     */
    record Bind(
            String portal,
            String statement,
            List<Optional<ByteBuf>> values,
            List<Boolean> binaryParameters,
            List<Boolean> binaryResults)
            implements ClientMessage {
        @Override
        public long size() {
            long bytes = portal.length() + statement.length();
            for (Optional<ByteBuf> value : values) {
                bytes += Long.BYTES + value.map(ByteBuf::readableBytes).orElse(0);
            }
            return bytes;
        }

        @Override
        public void close() {
            values.forEach(value -> value.ifPresent(ByteBuf::release));
        }
    }

    /** Asks for the columns of a portal, or the parameters and columns of a statement. */
    record Describe(boolean isPortal, String name) implements ClientMessage {
        @Override
        public long size() {
            return name.length();
        }
    }

    /** Runs a portal; {@code mostRows} of 0 is all. */
    record Execute(String portal, int mostRows) implements ClientMessage {
        @Override
        public long size() {
            return portal.length();
        }
    }

    /** Forgets a portal or a statement. */
    record Close(boolean isPortal, String name) implements ClientMessage {
        @Override
        public long size() {
            return name.length();
        }
    }

    /** Asks for all that was answered so far. */
    record Flush() implements ClientMessage {}

    /** Ends a series of messages: after an error they are skipped up to here. */
    record Sync() implements ClientMessage {}

    // ---- copy -----------------------------------------------------------------------------------------------------

    /** A piece of what is copied in; released by {@link #close}. */
    record CopyData(ByteBuf bytes) implements ClientMessage {
        @Override
        public long size() {
            return bytes.readableBytes();
        }

        @Override
        public void close() {
            bytes.release();
        }
    }

    /** All was copied. */
    record CopyDone() implements ClientMessage {}

    /** The client gives the copy up. */
    record CopyFail(String reason) implements ClientMessage {
        @Override
        public long size() {
            return reason.length();
        }
    }

    /** A piece of what is copied in for which there was no room. */
    record CopyRefused(MillraceException why) implements ClientMessage {}

    // ---- end ------------------------------------------------------------------------------------------------------

    /** The client goes. */
    record Terminate() implements ClientMessage {}

    /** Bytes that are no message; {@code reason} says why. The connection cannot go on. */
    record Malformed(String reason) implements ClientMessage {}

    /**
     * A whole message with a text in it that is no UTF-8, or one for which there is no room, as {@code why} says. The connection can
     * go on.
     *
     * @param simple whether it was a simple query, which has an answer of its own
     */
    record Unreadable(boolean simple, MillraceException why) implements ClientMessage {}

    /**
     * A large message, and the room that it has on the Java heap until it is answered.
     *
     * @param message what it is; closed with the room by whoever takes it last
     */
    record Large(ClientMessage message, HeapShare.Held room) implements ClientMessage {
        @Override
        public long size() {
            return message.size();
        }

        @Override
        public void close() {
            try {
                message.close();
            } finally {
                room.close();
            }
        }
    }

    /** Not from the client: somebody else ended its session, which is to say why and go. */
    record Ended(MillraceException why) implements ClientMessage {}

    /** About how many bytes it holds, where the client decides that. */
    default long size() {
        return 0;
    }

    /** Frees what the message holds; called once by whoever takes it last. */
    default void close() {}
}
