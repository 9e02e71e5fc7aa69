package dev.millrace.connectors.socket;

import dev.millrace.connectors.push.MetaColumn;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

/**
 * Who sent lines, and when they came.
 *
 * @param peer its address
 * @param receivedMicros since 1970 UTC
 */
record Sender(String peer, long receivedMicros) {
    static final List<MetaColumn.Kind> COLUMNS = List.of(
            new MetaColumn.Kind("peer", DataType.TEXT, false, about -> Optional.of(((Sender) about).peer())),
            new MetaColumn.Kind(
                    "received", DataType.TIMESTAMPTZ, false, about -> Optional.of(((Sender) about).receivedMicros())));
}
