package dev.millrace.connectors.envelope;

import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Records of changes as rows: the number of a {@link ChangeKind}, then the declared columns. Which may be NULL here, as a row that is gone has
 * no more than its key.
 *
 * @param key places of the key among the declared columns
 * @param reading of the envelope, for one decoder
 */
record ChangeFormat(Schema declared, Set<Integer> key, Function<DecoderContext, EnvelopeReading> reading)
        implements RecordFormat {
    /** Where the kind is. */
    static final int KIND = 0;

    ChangeFormat(Schema declared, List<Integer> key, Function<DecoderContext, EnvelopeReading> reading) {
        this(declared, Set.copyOf(new HashSet<>(key)), reading);
    }

    /** The declared columns, all of which may be NULL. */
    static Schema nullable(Schema declared) {
        return new Schema(declared.fields().stream()
                .map(field -> new Field(field.name(), field.type(), true))
                .toList());
    }

    @Override
    public Schema schema() {
        List<Field> fields = new ArrayList<>();
        fields.add(new Field("millrace_change", DataType.INTEGER, false));
        fields.addAll(nullable(declared).fields());
        return new Schema(fields);
    }

    @Override
    public RecordDecoder decoder(List<Integer> columns, DecoderContext context) {
        return new ChangeDecoder(this, columns, context);
    }
}
