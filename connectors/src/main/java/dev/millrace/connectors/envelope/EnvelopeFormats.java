package dev.millrace.connectors.envelope;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.compression.CompressedFormatFactory;
import dev.millrace.connectors.envelope.StretchReading.Stretch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Formats of changes, around those of rows: what the options {@code envelope}, {@code format} and {@code key.format} say. Safe on any thread. */
public final class EnvelopeFormats {
    private static final String JSON = "json";
    private static final List<String> WITH_ROWS = List.of("avro", "protobuf");
    private static final List<String> OF_ONE_ROW = List.of(JSON, "avro", "protobuf", "text", "raw");
    private static final String KEY = "key.";

    private final RecordFormats plain;

    /** @param plain formats of values that are not packed */
    public EnvelopeFormats(RecordFormats plain) {
        this.plain = plain;
    }

    /** The format of a table's changes, which transports take for any other. @param key places of the table's key among its columns */
    public RecordFormatFactory ofTable(List<Integer> key) {
        return new CompressedFormatFactory(new Factory(List.copyOf(key)));
    }

    private final class Factory implements RecordFormatFactory {
        private final List<Integer> key;

        Factory(List<Integer> key) {
            this.key = key;
        }

        @Override
        public String name() {
            return "changes";
        }

        @Override
        public RecordFormat create(Schema declared, Options options) {
            Envelope envelope = Envelope.read(options);
            String format = options.text("format", JSON).toLowerCase(Locale.ROOT);
            plain.named(format); // or says that there is none
            return switch (envelope) {
                case DEBEZIUM -> debezium(declared, format, options);
                case UPSERT -> upsert(declared, format, options);
            };
        }

        private RecordFormat debezium(Schema declared, String format, Options options) {
            Schema all = ChangeFormat.nullable(declared);
            if (format.equals(JSON)) {
                List<Integer> places = IntStream.range(0, all.size()).boxed().toList();
                Stretch after = new Stretch(plain.named(JSON).create(all, options), places);
                Stretch before = new Stretch(plain.named(JSON).create(all.select(key), options), key);
                return new ChangeFormat(
                        declared,
                        key,
                        context -> new StretchReading(all.size(), new DebeziumJson(), after, before, context));
            }
            if (!WITH_ROWS.contains(format)) {
                throw cannot(Envelope.DEBEZIUM, format, "json, avro and protobuf");
            }
            options.names().stream()
                    .filter(name -> name.matches("(timestamp|date|time)_format.*"))
                    .findFirst()
                    .ifPresent(name -> {
                        throw MillraceException.notAvailableYet(
                                "option \"" + name + "\" of Debezium's envelope in " + format);
                    });
            RecordFormat rows = plain.named(format).create(DebeziumRowReading.schema(all), options);
            return new ChangeFormat(declared, key, context -> new DebeziumRowReading(rows, context));
        }

        private RecordFormat upsert(Schema declared, String format, Options options) {
            Schema all = ChangeFormat.nullable(declared);
            List<Integer> others = IntStream.range(0, all.size())
                    .filter(column -> !key.contains(column))
                    .boxed()
                    .toList();
            if (!OF_ONE_ROW.contains(format)) {
                throw cannot(Envelope.UPSERT, format, String.join(", ", OF_ONE_ROW));
            }
            if (others.isEmpty()) {
                throw MillraceException.notAvailableYet("envelope upsert of a table that has no column but its key");
            }
            String keyFormat =
                    options.text("key.format", key.size() == 1 ? "text" : JSON).toLowerCase(Locale.ROOT);
            if (!OF_ONE_ROW.contains(keyFormat)) {
                plain.named(keyFormat);
                throw cannot(Envelope.UPSERT, keyFormat, String.join(", ", OF_ONE_ROW));
            }
            Options ofKey = ofKey(options);
            Stretch keys = new Stretch(plain.named(keyFormat).create(all.select(key), ofKey), key);
            ofKey.rejectUnread();
            Stretch values = new Stretch(plain.named(format).create(all.select(others), options), others);
            return new ChangeFormat(
                    declared,
                    key,
                    context -> new StretchReading(
                            all.size(),
                            new UpsertRecord(keyFormat.equals(JSON), format.equals(JSON)),
                            keys,
                            values,
                            context));
        }

        /** The options {@code key.<option>} as those of the keys' format; its name is read. */
        private Options ofKey(Options options) {
            Map<String, String> ofKey = new LinkedHashMap<>();
            for (String name : List.copyOf(options.names())) {
                if (name.startsWith(KEY) && !name.equals("key.format")) {
                    ofKey.put(name.substring(KEY.length()), options.required(name));
                }
            }
            return new Options(ofKey, options.references());
        }

        private MillraceException cannot(Envelope envelope, String format, String formats) {
            return MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "envelope " + envelope.name().toLowerCase(Locale.ROOT) + " is not read in format " + format)
                    .withHint("it is in " + formats);
        }

        @Override
        public Schema infer(Optional<EncodedRecords> sample, Options options) {
            throw MillraceException.internal("columns of tables are declared");
        }

        @Override
        public RecordEncoder encoder(Schema schema, Options options) {
            throw MillraceException.notAvailableYet("writing an envelope");
        }

        @Override
        public List<OptionDescription> options() {
            return Envelope.DESCRIPTIONS;
        }
    }
}
