package dev.millrace.engine.checkpoint;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a checkpoint says of the engine, in its last section, {@code engine}: part {@code numbers}, version 3: the last number of an epoch and
 * the last time of one, 8 bytes each; in version 1 an operator's state is in one section, in version 2 in some that are all of it; a part {@code query},
 * version 3, for each query, see {@link QueryMeta}.
 *
 * @param numbers see {@code Epochs.numbers}
 * @param queries by name
 */
public record CheckpointMeta(long[] numbers, Map<String, QueryMeta> queries) {
    private static final String SECTION = "engine";
    private static final String NUMBERS = "numbers";
    private static final String QUERY = "query";
    private static final int VERSION = 3; // since states are in steps, which who reads version 2 would take for all

    /** Writes it, by the thread that made the barrier. */
    public static void write(long[] numbers, List<QueryMeta> queries, Barrier barrier) throws IOException {
        try (SectionOutput output = barrier.section(SECTION)) {
            DataOutput out = output.part(NUMBERS, VERSION);
            out.writeLong(numbers[0]);
            out.writeLong(numbers[1]);
            for (QueryMeta query : queries) {
                query.write(output.part(QUERY, VERSION));
            }
            output.finish();
        }
    }

    /** @throws MillraceException XX001 if it is not there, or damaged */
    public static CheckpointMeta read(SavedSections saved) {
        CheckpointMeta meta = new CheckpointMeta(new long[2], new LinkedHashMap<>());
        boolean found = saved.read(SECTION, VERSION, part -> {
            if (part.name().equals(NUMBERS)) {
                readNumbers(part.part(), meta.numbers);
            } else if (part.name().equals(QUERY)) {
                QueryMeta query = QueryMeta.read(part.part(), part.version());
                meta.queries.put(query.name(), query);
            }
        });
        if (!found) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED, "a checkpoint has no section \"" + SECTION + "\": it was not finished");
        }
        return meta;
    }

    private static void readNumbers(DataInput in, long[] into) throws IOException {
        into[0] = in.readLong();
        into[1] = in.readLong();
    }
}
