package dev.millrace.connectors.socket;

import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.Overload;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.type.Schema;

/**
 * Lines that come at an address of this machine.
 *
 * @param datagrams whether by UDP, else by TCP
 * @param mostRecordBytes of a line; that of a datagram is bounded by itself
 * @param mostConnections at once, by TCP
 * @param bufferBytes that wait until the stream takes them
 */
record SocketSource(
        boolean datagrams,
        ListenAddress listen,
        PushedRecords records,
        Overload overload,
        int mostRecordBytes,
        int mostConnections,
        long bufferBytes)
        implements PushedSource {
    @Override
    public Schema schema() {
        return records.schema();
    }

    @Override
    public PushedReader receive(PushedContext context) {
        ArrivalQueue inbox = new ArrivalQueue(bufferBytes);
        return new RecordReceiver(
                records,
                context,
                inbox,
                datagrams ? new UdpTransport(this, context, inbox) : new TcpTransport(this, context, inbox));
    }
}
