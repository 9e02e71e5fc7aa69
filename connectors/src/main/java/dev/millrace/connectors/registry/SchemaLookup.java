package dev.millrace.connectors.registry;

import dev.millrace.error.MillraceException;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a decoder has made of the schemas of its records: found before the records are looked at, so that nothing is rejected while one is
 * waited for. Owned by one thread, but for {@link #waitsFor}.
 *
 * @param <T> what is made of a schema
 */
public final class SchemaLookup<T> {
    private static final int MOST = 200;

    private final SchemaRegistry registry;
    private final DecoderContext context;
    private final Function<RegisteredSchema, T> make;
    private final Runnable forgotten;
    private final Map<Integer, T> made = new HashMap<>(); // by the schema's number
    private final Map<Integer, MillraceException> failures = new HashMap<>(); // of the records under way

    // Of the record before, most likely that of the next.
    private int lastId;
    private @Nullable T last;

    private volatile Optional<String> waitsFor = Optional.empty(); // written by the decoder's thread

    /**
     * @param make throws a {@link MillraceException} of the user if no record of the schema can be read
     * @param forgotten called when all that was made is given up, as there was too much of it
     */
    public SchemaLookup(
            SchemaRegistry registry, DecoderContext context, Function<RegisteredSchema, T> make, Runnable forgotten) {
        this.registry = registry;
        this.context = context;
        this.make = make;
        this.forgotten = forgotten;
    }

    /** Whether the schemas of all records are known, or known to be none. All that are not are asked for. */
    public boolean isReady(EncodedRecords records) {
        failures.clear();
        if (made.size() > MOST) {
            last = null;
            made.clear();
            forgotten.run();
        }
        Optional<Integer> missing = Optional.empty();
        int before = lastId;
        boolean isBefore = last != null;
        for (int record = 0; record < records.count(); record++) {
            if (!SchemaFrame.isFramed(records, record)) {
                continue;
            }
            int id = SchemaFrame.id(records, record);
            boolean isKnown = isBefore && id == before || made.containsKey(id) || failures.containsKey(id);
            if (!isKnown && !find(id)) {
                missing = Optional.of(id);
            }
            before = id;
            isBefore = true;
        }
        waitsFor = missing.map(id -> "schema " + Integer.toUnsignedString(id) + " of " + registry
                + registry.lastError().map(error -> " (" + error + ")").orElse(""));
        return missing.isEmpty();
    }

    private boolean find(int id) {
        try {
            Optional<RegisteredSchema> schema = registry.schema(id, context::wakeUp);
            if (schema.isEmpty()) {
                return false;
            }
            made.put(id, make.apply(schema.get()));
        } catch (MillraceException e) {
            if (e.fault() != MillraceException.Fault.USER) {
                throw e;
            }
            failures.put(id, e); // of each of its records
        }
        return true;
    }

    /**
     * What was made of a record's schema, after {@link #isReady}.
     *
     * @throws MillraceException if the record names no schema, or none that can be used
     */
    public T of(EncodedRecords records, int record) {
        if (!SchemaFrame.isFramed(records, record)) {
            throw SchemaFrame.notFramed();
        }
        int id = SchemaFrame.id(records, record);
        T known = last;
        if (known != null && id == lastId) {
            return known;
        }
        T found = made.get(id);
        if (found == null) {
            throw Objects.requireNonNull(failures.get(id), "isReady was asked").again();
        }
        lastId = id;
        last = found;
        return found;
    }

    /** What it waits for, for users. Any thread. */
    public Optional<String> waitsFor() {
        return waitsFor;
    }
}
