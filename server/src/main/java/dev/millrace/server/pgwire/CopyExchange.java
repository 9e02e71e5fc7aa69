package dev.millrace.server.pgwire;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.CheckedMemory;
import dev.millrace.memory.Memory;
import dev.millrace.server.copy.CopyOptions;
import dev.millrace.server.copy.CopyOutput;
import dev.millrace.server.pgwire.message.ClientMessage;
import dev.millrace.server.pgwire.message.ServerMessages;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.session.Session;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Optional;

/** The messages of COPY between client and server. Belongs to the session's thread. */
final class CopyExchange {

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
                throw MillraceException.external(SqlState.CONNECTION_FAILURE, "the client is gone");
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
                } else if (message instanceof ClientMessage.CopyRefused refused) {
                    throw refused.why();
                } else if (message instanceof ClientMessage.Ended ended) {
                    inbox.add(List.of(ended)); // for the conversation, which ends with it
                    throw ended.why();
                } else if (message instanceof ClientMessage.Malformed || message instanceof ClientMessage.Terminate) {
                    inbox.add(List.of(message)); // for the conversation, as nothing follows it
                    throw MillraceException.external(
                            SqlState.CONNECTION_FAILURE, "the client ended the connection during COPY");
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
        if (bytes.hasMemoryAddress() && !CheckedMemory.isOn()) {
            copy.write(bytes.memoryAddress() + bytes.readerIndex(), bytes.readableBytes());
            return;
        }
        byte[] array = new byte[bytes.readableBytes()];
        bytes.readBytes(array);
        long address = Memory.allocate(Math.max(1, array.length));
        try {
            Memory.copyIn(array, 0, address, array.length);
            copy.write(address, array.length);
        } finally {
            Memory.free(address);
        }
    }

    /**
     * Gives rows to the client until there are no more.
     *
     * @return how many
     */
    long out(StatementResult.CopyOut copy) {
        out.setEndless(!(copy.source() instanceof StatementResult.Rows));
        try {
            return send(copy);
        } finally {
            out.setEndless(false);
        }
    }

    private long send(StatementResult.CopyOut copy) {
        try (ResultBatches rows = new ResultBatches(copy.source(), session.allocator());
                CopyMessages messages = new CopyMessages(out, session.allocator())) {
            messages.inStyle(session.settings().timeStyle());
            out.cutIf(rows::isOverrun);
            CopyOutput output = new CopyOutput(copy.options());
            boolean binary = copy.options().form() == CopyOptions.Form.BINARY;
            ServerMessages.copyResponse(out.buffer(), 'H', rows.schema().size(), binary);
            output.begin(messages.open(), rows.schema());
            if (!binary) {
                messages.end(); // a line of its own; what binary begins with travels with the first row
            }
            long sent = 0;
            for (Optional<Batch> next = next(rows, messages); next.isPresent(); next = next(rows, messages)) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        output.row(messages.open(), batch, row);
                        messages.end();
                    }
                    sent += batch.rowCount();
                }
            }
            output.end(messages.open());
            messages.finish();
            ServerMessages.copyDone(out.buffer());
            return sent;
        }
    }

    private static Optional<Batch> next(ResultBatches rows, CopyMessages messages) {
        Optional<Batch> next = rows.next(rows.isFinite());
        if (next.isPresent() || rows.isEnded()) {
            return next;
        }
        messages.flush();
        return rows.next(true);
    }
}
