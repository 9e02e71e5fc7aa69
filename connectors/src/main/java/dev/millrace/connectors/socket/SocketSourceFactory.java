package dev.millrace.connectors.socket;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Overload;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/** The sources {@code tcp} and {@code udp}: lines that come at an address of this machine. */
public final class SocketSourceFactory implements SourceFactory {
    private static final long RECORD_BYTES = 1 << 20;
    private static final long MOST_RECORD_BYTES = 64 << 20;
    private static final long CONNECTIONS = 100;
    private static final long MOST_CONNECTIONS = 10_000;

    private final boolean datagrams;
    private final RecordFormats formats;

    private SocketSourceFactory(boolean datagrams, RecordFormats formats) {
        this.datagrams = datagrams;
        this.formats = formats;
    }

    /** @param formats that lines can have */
    public static SocketSourceFactory tcp(RecordFormats formats) {
        return new SocketSourceFactory(false, formats);
    }

    /** @param formats that lines can have */
    public static SocketSourceFactory udp(RecordFormats formats) {
        return new SocketSourceFactory(true, formats);
    }

    @Override
    public String name() {
        return datagrams ? "udp" : "tcp";
    }

    @Override
    public Source create(Schema declared, Options options) {
        ListenAddress listen = ListenAddress.read(options);
        PushedRecords records = PushedRecords.read(name(), formats, "json", declared, options, Sender.COLUMNS);
        long bufferBytes = ArrivalQueue.readBytes(options);
        if (datagrams) {
            return new SocketSource(true, listen, records, Overload.read(options), 0, 0, bufferBytes);
        }
        return new SocketSource(
                false,
                listen,
                records,
                Overload.DROP_NEWEST,
                (int) options.integer("max_record_bytes", RECORD_BYTES, 1, MOST_RECORD_BYTES),
                (int) options.integer("max_connections", CONNECTIONS, 1, MOST_CONNECTIONS),
                bufferBytes);
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(List.of(
                new OptionDescription("listen", "", "host:port of this machine; port 0 is any that is free"),
                new OptionDescription("format", "json", "of the lines"),
                ArrivalQueue.description(),
                new OptionDescription("include.peer", "", "a column of that name with the sender's address"),
                new OptionDescription(
                        "include.received", "", "a column of that name with the time at which a line came")));
        if (datagrams) {
            all.add(Overload.description());
        } else {
            all.add(new OptionDescription(
                    "max_record_bytes", "1 MB", "longer lines are passed over, and are in millrace.rejected_rows"));
            all.add(new OptionDescription("max_connections", "100", "at once; further ones are closed"));
        }
        return List.copyOf(all);
    }
}
