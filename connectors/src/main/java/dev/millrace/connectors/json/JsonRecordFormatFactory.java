package dev.millrace.connectors.json;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.JsonRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connectors.filter.RowFilter;
import dev.millrace.connectors.format.TimeFormats;
import dev.millrace.connectors.input.AskedColumns;
import dev.millrace.connectors.input.LineFiles;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The format {@code json}: an object per record, its members into columns by name. */
public final class JsonRecordFormatFactory implements RecordFormatFactory {
    @Override
    public String name() {
        return "json";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        return new JsonRecordFormat(columns(declared, options));
    }

    /** Files with an object on each line. */
    public static LineFiles files(Schema schema, Options options, int maxRecordBytes) {
        return files(schema, options, maxRecordBytes, false);
    }

    /** @param onlyAsked whether members that are not asked for may be anything */
    public static LineFiles files(Schema schema, Options options, int maxRecordBytes, boolean onlyAsked) {
        List<JsonColumn> columns = columns(schema, options);
        return new LineFiles(
                schema,
                (request, context) -> {
                    if (onlyAsked) {
                        AskedColumns asked = AskedColumns.of(request);
                        return decoder(asked.of(columns), asked.of(schema), asked.places(request), context);
                    }
                    return decoder(columns, schema, request, context);
                },
                maxRecordBytes);
    }

    private static JsonDecoder decoder(
            List<JsonColumn> columns, Schema schema, ScanRequest request, DecoderContext context) {
        return new JsonDecoder(columns, request.columns(), RowFilter.of(request.predicates(), schema), context);
    }

    /** The columns of a relation, with the options {@code json.path.<column>} and those of times. */
    public static List<JsonColumn> columns(Schema schema, Options options) {
        TimeFormats formats = TimeFormats.read(options);
        List<JsonColumn> columns = new ArrayList<>();
        for (Field field : schema.fields()) {
            String path = options.text("json.path." + field.name(), "");
            List<String> steps = path.isEmpty() ? List.of(field.name()) : JsonColumn.steps(path);
            columns.add(new JsonColumn(field, steps, formats.of(field, options, "JSON")));
        }
        return columns;
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        List<String> texts = new ArrayList<>();
        sample.ifPresent(records -> {
            for (int i = 0; i < records.count(); i++) {
                if (!records.isNull(i)) {
                    byte[] text = new byte[records.to(i) - records.from(i)];
                    Memory.copyOut(records.address() + records.from(i), text, 0, text.length);
                    texts.add(new String(text, StandardCharsets.UTF_8));
                }
            }
        });
        Schema schema = JsonInference.infer(texts);
        if (schema.size() == 0) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "columns cannot be guessed: there are no records with a JSON object")
                    .withHint("declare the columns");
        }
        return schema;
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        JsonRows rows = new JsonRows(schema);
        return new RecordEncoder() {
            @Override
            public void encode(Batch batch, int row, TextBuffer into) {
                rows.row(into, batch, row);
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(List.of(new OptionDescription(
                "json.path.<column>",
                "the column's name",
                "where the value is, such as position.lat or readings[0].value")));
        all.addAll(TimeFormats.DESCRIPTIONS);
        return List.copyOf(all);
    }
}
