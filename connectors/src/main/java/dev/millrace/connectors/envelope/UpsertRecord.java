package dev.millrace.connectors.envelope;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import java.util.Optional;

/** The newest row of a key: the first stretch is the record's key, the second its value, of which there is none for a row that is gone. */
final class UpsertRecord implements StretchReading.Splitter {
    private final Optional<JsonEnvelope> key;
    private final Optional<JsonEnvelope> value;

    /** Where it is JSON, Connect may have wrapped it. */
    UpsertRecord(boolean isJsonKey, boolean isJsonValue) {
        this.key = isJsonKey ? Optional.of(new JsonEnvelope()) : Optional.empty();
        this.value = isJsonValue ? Optional.of(new JsonEnvelope()) : Optional.empty();
    }

    @Override
    public ChangeKind split(EncodedRecords records, int record, PartDecoder ofKey, PartDecoder ofValue) {
        boolean hasKey = records.hasKey(record)
                && add(records, record, records.keyFrom(record), records.keyTo(record), key, ofKey);
        if (!hasKey) {
            throw MillraceException.user(
                    SqlState.NULL_VALUE_NOT_ALLOWED, "a record without a key, by which envelope upsert knows rows");
        }
        boolean hasValue = !records.isNull(record)
                && add(records, record, records.from(record), records.to(record), value, ofValue);
        return hasValue ? ChangeKind.PUT : ChangeKind.DELETE;
    }

    /** Adds what counts of a stretch; false if that is null. */
    private static boolean add(
            EncodedRecords records, int record, int from, int to, Optional<JsonEnvelope> json, PartDecoder into) {
        if (json.isEmpty()) {
            into.add(record, from, to, records.position(record));
            return true;
        }
        JsonEnvelope wrapped = json.get();
        boolean isThere = wrapped.unwrap(records.address() + from, to - from);
        if (isThere) {
            into.add(record, from + wrapped.payloadFrom(), from + wrapped.payloadTo(), records.position(record));
        }
        return isThere;
    }
}
