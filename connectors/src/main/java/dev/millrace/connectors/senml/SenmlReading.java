package dev.millrace.connectors.senml;

import dev.millrace.connectors.column.DecodedColumns;
import dev.millrace.connectors.column.RecordwiseDecoder;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** A row for each value of each pack. Owned by one thread. */
final class SenmlReading implements RecordwiseDecoder.Reading {
    private static final double MICROS = 1e6;

    private final List<SenmlField> fields; // of each column
    private final DecoderContext context;
    private final TextBuffer bytes;

    /** Of the records that are being decoded, each its values or why it has none. */
    private final List<Pack> packs = new ArrayList<>();

    private record Pack(List<SenmlPack.Value> values, Optional<MillraceException> failure) {}

    SenmlReading(List<SenmlField> fields, DecoderContext context) {
        this.fields = fields;
        this.context = context;
        this.bytes = new TextBuffer(context.allocator(), 64);
    }

    @Override
    public Optional<Integer> mostRows(EncodedRecords records) {
        packs.clear();
        double now = context.clock().epochMicros() / MICROS;
        int rows = 0;
        for (int record = 0; record < records.count(); record++) {
            Pack pack = pack(records, record, now);
            rows += pack.values().size();
            packs.add(pack);
        }
        return Optional.of(rows);
    }

    private static Pack pack(EncodedRecords records, int record, double now) {
        if (records.isNull(record)) {
            return new Pack(List.of(), Optional.empty());
        }
        byte[] text = new byte[records.to(record) - records.from(record)];
        Memory.copyOut(records.address() + records.from(record), text, 0, text.length);
        try {
            return new Pack(SenmlPack.read(text, now), Optional.empty());
        } catch (MillraceException e) {
            return new Pack(List.of(), Optional.of(e));
        }
    }

    @Override
    public void read(EncodedRecords records, int record, DecodedColumns into) {
        Pack pack = packs.get(record);
        if (pack.failure().isPresent()) {
            throw pack.failure().get();
        }
        for (SenmlPack.Value value : pack.values()) {
            for (int column = 0; column < fields.size(); column++) {
                put(value, fields.get(column), into.column(column));
            }
            into.keep();
        }
    }

    private void put(SenmlPack.Value value, SenmlField field, ValueTarget to) {
        switch (field) {
            case NAME -> to.putText(value.name());
            case UNIT -> value.unit().ifPresent(to::putText);
            case VALUE -> number(value.number(), to);
            case STRING -> value.text().ifPresent(to::putText);
            case BOOLEAN -> value.bool().ifPresent(to::putBoolean);
            case DATA -> value.data().ifPresent(data -> data(data, to));
            case SUM -> number(value.sum(), to);
            case TIME -> time(value.time(), to);
            case UPDATE -> number(value.update(), to);
        }
    }

    private static void number(OptionalDouble value, ValueTarget to) {
        if (value.isPresent()) {
            to.putDouble(value.getAsDouble());
        }
    }

    private void data(byte[] data, ValueTarget to) {
        bytes.clear();
        bytes.append(data);
        bytes.room(8); // readable behind
        to.putBytes(bytes.address(), data.length);
    }

    private static void time(double seconds, ValueTarget to) {
        if (to.type().isNumber()) {
            to.putDouble(seconds);
        } else if (Math.abs(seconds) > Long.MAX_VALUE / MICROS) {
            throw MillraceException.user(
                    SqlState.DATETIME_FIELD_OVERFLOW, "time out of range: " + seconds + " s since 1970");
        } else {
            to.putTimestamp(Math.round(seconds * MICROS));
        }
    }

    @Override
    public void close() {
        bytes.close();
    }
}
