package dev.millrace.server.pgwire.message;

import dev.millrace.error.MillraceException;
import dev.millrace.server.pgwire.value.PgType;
import dev.millrace.server.result.Warning;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** Writes what a server sends, but for rows, at the end of a buffer. Stateless. */
public final class ServerMessages {
    private static final int SASL = 10;
    private static final int SASL_CONTINUE = 11;
    private static final int SASL_FINAL = 12;

    private ServerMessages() {}

    /** What ReadyForQuery says of the transaction. */
    public enum TransactionState {
        IDLE('I'),
        IN_TRANSACTION('T'),
        FAILED('E');

        private final char code;

        TransactionState(char code) {
            this.code = code;
        }
    }

    public static void authenticationOk(ByteBuf out) {
        int start = begin(out, 'R');
        out.writeInt(0);
        end(out, start);
    }

    /** Asks the client to choose a SASL mechanism. */
    public static void authenticationSasl(ByteBuf out, List<String> mechanisms) {
        int start = begin(out, 'R');
        out.writeInt(SASL);
        mechanisms.forEach(mechanism -> text(out, mechanism));
        out.writeByte(0);
        end(out, start);
    }

    public static void authenticationSaslContinue(ByteBuf out, String data) {
        saslData(out, SASL_CONTINUE, data);
    }

    public static void authenticationSaslFinal(ByteBuf out, String data) {
        saslData(out, SASL_FINAL, data);
    }

    private static void saslData(ByteBuf out, int code, String data) {
        int start = begin(out, 'R');
        out.writeInt(code);
        out.writeCharSequence(data, StandardCharsets.UTF_8);
        end(out, start);
    }

    public static void backendKeyData(ByteBuf out, int process, int secret) {
        int start = begin(out, 'K');
        out.writeInt(process);
        out.writeInt(secret);
        end(out, start);
    }

    public static void parameterStatus(ByteBuf out, String name, String value) {
        int start = begin(out, 'S');
        text(out, name);
        text(out, value);
        end(out, start);
    }

    public static void readyForQuery(ByteBuf out, TransactionState state) {
        int start = begin(out, 'Z');
        out.writeByte(state.code);
        end(out, start);
    }

    /** Tells a client of a newer minor version, or with unknown options, what we speak. */
    public static void negotiateProtocolVersion(ByteBuf out, List<String> unknownOptions) {
        int start = begin(out, 'v');
        out.writeInt(0);
        out.writeInt(unknownOptions.size());
        unknownOptions.forEach(option -> text(out, option));
        end(out, start);
    }

    public static void parseComplete(ByteBuf out) {
        empty(out, '1');
    }

    public static void bindComplete(ByteBuf out) {
        empty(out, '2');
    }

    public static void closeComplete(ByteBuf out) {
        empty(out, '3');
    }

    public static void noData(ByteBuf out) {
        empty(out, 'n');
    }

    public static void emptyQueryResponse(ByteBuf out) {
        empty(out, 'I');
    }

    public static void portalSuspended(ByteBuf out) {
        empty(out, 's');
    }

    public static void copyDone(ByteBuf out) {
        empty(out, 'c');
    }

    public static void commandComplete(ByteBuf out, String tag) {
        int start = begin(out, 'C');
        text(out, tag);
        end(out, start);
    }

    public static void parameterDescription(ByteBuf out, List<Integer> oids) {
        int start = begin(out, 't');
        out.writeShort(oids.size());
        oids.forEach(out::writeInt);
        end(out, start);
    }

    /** @param binary by column; as many as there are columns */
    public static void rowDescription(ByteBuf out, Schema schema, boolean[] binary) {
        int start = begin(out, 'T');
        out.writeShort(schema.size());
        for (int column = 0; column < schema.size(); column++) {
            Field field = schema.field(column);
            text(out, field.name());
            out.writeInt(0); // of no table
            out.writeShort(0);
            out.writeInt(PgType.oidOf(field.type()));
            out.writeShort(PgType.sizeOf(field.type()));
            out.writeInt(PgType.modifierOf(field.type()));
            out.writeShort(binary[column] ? 1 : 0);
        }
        end(out, start);
    }

    /** Begins COPY: 'G' takes rows from the client, 'H' gives it rows. */
    public static void copyResponse(ByteBuf out, char direction, int columns, boolean binary) {
        int start = begin(out, direction);
        out.writeByte(binary ? 1 : 0);
        out.writeShort(columns);
        for (int column = 0; column < columns; column++) {
            out.writeShort(binary ? 1 : 0);
        }
        end(out, start);
    }

    /** @param severity ERROR or FATAL */
    public static void error(ByteBuf out, String severity, MillraceException error) {
        int start = begin(out, 'E');
        field(out, 'S', severity);
        field(out, 'V', severity);
        field(out, 'C', error.sqlState().code());
        field(out, 'M', error.getMessage());
        error.hint().ifPresent(hint -> field(out, 'H', hint));
        error.position().ifPresent(position -> field(out, 'P', String.valueOf(position)));
        out.writeByte(0);
        end(out, start);
    }

    public static void notice(ByteBuf out, String message) {
        Optional<String> warning = Warning.in(message);
        String severity = warning.isPresent() ? "WARNING" : "NOTICE";
        int start = begin(out, 'N');
        field(out, 'S', severity);
        field(out, 'V', severity);
        field(out, 'C', warning.isPresent() ? "01000" : "00000");
        field(out, 'M', warning.orElse(message));
        out.writeByte(0);
        end(out, start);
    }

    private static void field(ByteBuf out, char code, String value) {
        out.writeByte(code);
        text(out, value);
    }

    private static void empty(ByteBuf out, char type) {
        end(out, begin(out, type));
    }

    private static int begin(ByteBuf out, char type) {
        out.writeByte(type);
        int start = out.writerIndex();
        out.writeInt(0);
        return start;
    }

    private static void end(ByteBuf out, int start) {
        out.setInt(start, out.writerIndex() - start);
    }

    private static void text(ByteBuf out, String text) {
        out.writeCharSequence(text.indexOf('\0') < 0 ? text : text.replace("\0", ""), StandardCharsets.UTF_8);
        out.writeByte(0);
    }
}
