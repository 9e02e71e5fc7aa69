package dev.millrace.server.pgwire;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.copy.CopyOptions;
import dev.millrace.server.copy.CopyOutput;
import dev.millrace.server.pgwire.message.ClientMessage;
import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.server.session.Session;
import dev.millrace.server.session.StatementResult;
import dev.millrace.text.TextBuffer;
import io.netty.buffer.ByteBuf;
import java.util.Optional;

/** The messages of COPY between client and server. Belongs to the session's thread. */
final class CopyExchange {
    private static final int ROOM = 16 << 10;
    private static final int ENOUGH = 8 << 10;
    private static final int HEADER_BYTES = 5;

    private final Session session;
    private final Inbox inbox;
    private final Outgoing out;

    CopyExchange(Session session, Inbox inbox, Outgoing out) {
        this.session = session;
        this.inbox = inbox;
        this.out = out;
    }

    /**
     * Takes rows from the client until it says that these were all.
     *
     * @return how many
     */
    long in(StatementResult.CopyIn copy) {
        ServerMessages.copyResponse(out.buffer(), 'G', copy.columns(), copy.binary());
        out.flush();
        while (true) {
            Optional<ClientMessage> next = inbox.take();
            if (next.isEmpty()) {
                throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the client is gone", null);
            }
            ClientMessage message = next.get();
            try {
                if (message instanceof ClientMessage.CopyData data) {
                    write(copy, data.bytes());
                } else if (message instanceof ClientMessage.CopyDone) {
                    return copy.finish();
                } else if (message instanceof ClientMessage.CopyFail failure) {
                    throw MillraceException.user(
                            SqlState.QUERY_CANCELED, "COPY from stdin failed: " + failure.reason());
                } else if (!(message instanceof ClientMessage.Flush || message instanceof ClientMessage.Sync)) {
                    throw MillraceException.user(
                            SqlState.PROTOCOL_VIOLATION,
                            "unexpected message during COPY from stdin: "
                                    + message.getClass().getSimpleName());
                }
            } finally {
                message.close();
            }
        }
    }

    private static void write(StatementResult.CopyIn copy, ByteBuf bytes) {
        if (bytes.hasMemoryAddress()) {
            copy.write(bytes.memoryAddress() + bytes.readerIndex(), bytes.readableBytes());
            return;
        }
        ByteBuf direct = bytes.alloc().directBuffer(bytes.readableBytes()).writeBytes(bytes);
        try {
            copy.write(direct.memoryAddress(), direct.readableBytes());
        } finally {
            direct.release();
        }
    }

    /**
     * Gives rows to the client until there are no more.
     *
     * @return how many
     */
    long out(StatementResult.CopyOut copy) {
        try (ResultBatches rows = new ResultBatches(copy.source(), session.allocator());
                TextBuffer text = new TextBuffer(session.allocator(), ROOM)) {
            CopyOutput output = new CopyOutput(copy.options());
            boolean binary = copy.options().form() == CopyOptions.Form.BINARY;
            ServerMessages.copyResponse(out.buffer(), 'H', rows.schema().size(), binary);
            output.begin(text, rows.schema());
            send(text);
            long sent = 0;
            for (Optional<Batch> next = next(rows); next.isPresent(); next = next(rows)) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        output.row(text, batch, row);
                        if (text.length() >= ENOUGH) {
                            send(text);
                        }
                    }
                    sent += batch.rowCount();
                    send(text);
                }
            }
            output.end(text);
            send(text);
            ServerMessages.copyDone(out.buffer());
            return sent;
        }
    }

    private Optional<Batch> next(ResultBatches rows) {
        Optional<Batch> next = rows.next(rows.isFinite());
        if (next.isPresent() || rows.isEnded()) {
            return next;
        }
        out.flush(); // the client sees what came before it waits for more
        return rows.next(true);
    }

    private void send(TextBuffer text) {
        if (text.length() == 0) {
            return;
        }
        ByteBuf buffer = out.buffer();
        buffer.writeByte('d');
        buffer.writeInt((int) text.length() + HEADER_BYTES - 1);
        out.add(text);
    }
}
