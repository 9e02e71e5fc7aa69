package dev.millrace.connectors.envelope;

import dev.millrace.format.EncodedRecords;

/** Debezium's envelope as JSON: the first stretch is the row after, of all columns, the second the row before, of the key. */
final class DebeziumJson implements StretchReading.Splitter {
    private final JsonEnvelope envelope = new JsonEnvelope();

    @Override
    public ChangeKind split(EncodedRecords records, int record, PartDecoder after, PartDecoder before) {
        if (records.isNull(record)) {
            return ChangeKind.TOMBSTONE;
        }
        int from = records.from(record);
        ChangeKind kind = envelope.debezium(records.address() + from, records.to(record) - from);
        if (kind == ChangeKind.PUT) {
            after.add(record, from + envelope.afterFrom(), from + envelope.afterTo(), records.position(record));
        } else if (kind == ChangeKind.DELETE) {
            before.add(record, from + envelope.beforeFrom(), from + envelope.beforeTo(), records.position(record));
        }
        return kind;
    }
}
