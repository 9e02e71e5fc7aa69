package dev.millrace.connectors.envelope;

import dev.millrace.batch.Closing;
import dev.millrace.connectors.envelope.PartDecoder.Failure;
import dev.millrace.connectors.envelope.PartDecoder.Parts;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordFormat;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;
import org.jspecify.annotations.Nullable;

/** Records of which one or two stretches are decoded by other formats, each giving some of the columns. Owned by one thread, but for what it waits for. */
final class StretchReading implements EnvelopeReading {
    /** Finds the stretches of one envelope. Owned by one thread. */
    interface Splitter {
        /**
         * Says what a record is, and adds at most one stretch of it to each decoder.
         *
         * @throws MillraceException if it is nothing: then what was added is not looked at
         */
        ChangeKind split(EncodedRecords records, int record, PartDecoder first, PartDecoder second);
    }

    /**
     * A format, and which of the declared columns its columns are.
     *
     * @param places in the order of the format's columns
     */
    record Stretch(RecordFormat format, List<Integer> places) {
        @Nullable FieldVector[] placed(Parts parts, int columns) {
            @Nullable FieldVector[] vectors = new FieldVector[columns];
            for (int i = 0; i < places.size(); i++) {
                vectors[places.get(i)] = parts.rows().columns().get(i);
            }
            return vectors;
        }
    }

    private final int columns;
    private final Splitter splitter;
    private final Stretch first;
    private final Stretch second;
    private final PartDecoder ofFirst;
    private final PartDecoder ofSecond;

    /** @param columns how many are declared */
    StretchReading(int columns, Splitter splitter, Stretch first, Stretch second, DecoderContext context) {
        this.columns = columns;
        this.splitter = splitter;
        this.first = first;
        this.second = second;
        this.ofFirst = new PartDecoder(first.format(), context);
        try {
            this.ofSecond = new PartDecoder(second.format(), context);
        } catch (RuntimeException | Error e) {
            ofFirst.close();
            throw e;
        }
    }

    @Override
    public Optional<DecodedChanges> read(EncodedRecords records) {
        ofFirst.begin(records);
        ofSecond.begin(records);
        @Nullable ChangeKind[] kinds = new ChangeKind[records.count()];
        @Nullable Failure[] failures = new Failure[records.count()];
        for (int record = 0; record < records.count(); record++) {
            try {
                kinds[record] = splitter.split(records, record, ofFirst, ofSecond);
            } catch (MillraceException e) {
                failures[record] = new Failure("", e);
            }
        }
        Optional<Parts> a = ofFirst.decode();
        if (a.isEmpty()) {
            return Optional.empty();
        }
        Optional<Parts> b;
        try {
            b = ofSecond.decode();
        } catch (RuntimeException | Error e) {
            a.get().close();
            throw e;
        }
        if (b.isEmpty()) {
            a.get().close();
            return Optional.empty();
        }
        DecodedChanges changes = new DecodedChanges(records.count(), List.of(a.get(), b.get()));
        changes.add(
                new DecodedChanges.Place(first.placed(a.get(), columns), a.get().rowOf()));
        changes.add(new DecodedChanges.Place(
                second.placed(b.get(), columns), b.get().rowOf()));
        for (int record = 0; record < records.count(); record++) {
            Failure failure = failures[record];
            ChangeKind kind = kinds[record];
            if (failure != null) {
                changes.failed(record, failure);
            } else if (kind != null) {
                changes.is(record, kind);
                changes.failed(record, ofFirst.failure(record));
                changes.failed(record, ofSecond.failure(record));
            }
        }
        return Optional.of(changes);
    }

    @Override
    public Optional<String> waitsFor() {
        return ofFirst.waitsFor().or(ofSecond::waitsFor);
    }

    @Override
    public void close() {
        Closing.all(List.of(ofFirst, ofSecond));
    }
}
