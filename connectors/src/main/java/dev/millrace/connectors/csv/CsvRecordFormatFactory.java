package dev.millrace.connectors.csv;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The format {@code csv} of records: one or several lines of separated values each, without a header. */
public final class CsvRecordFormatFactory implements RecordFormatFactory {
    /** Options of files that records have no use for. */
    private static final Set<String> OF_FILES = Set.of(
            "header", "skip_lines", "encoding", "comment", "max_record_bytes", "union_by_name", "skip_after_header");

    @Override
    public String name() {
        return "csv";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        CsvOptions csv = read(options);
        return new CsvRecordFormat(csv.columns(declared, options), csv.dialect());
    }

    private static CsvOptions read(Options options) {
        for (String name : OF_FILES) {
            if (options.names().contains(name)) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "option \"" + name + "\" is of files, and not of records of format csv")
                        .withHint("fields of a record are columns by their position");
            }
        }
        CsvOptions csv = CsvOptions.read(options, "").withHeader(false);
        assert csv.dialect().encoding() == Encoding.UTF_8;
        return csv;
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        CsvOptions csv = read(options);
        Schema schema = sample.map(records -> CsvInference.infer(records, csv.dialect(), csv.timestampFormat()))
                .orElse(new Schema(List.of()));
        if (schema.size() == 0) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION, "columns cannot be guessed: there are no records")
                    .withHint("declare the columns");
        }
        return schema;
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        CsvRows rows = new CsvRows(read(options).dialect().delimiter());
        return new RecordEncoder() {
            @Override
            public void encode(Batch batch, int row, TextBuffer into) {
                rows.row(into, batch, row);
                into.truncate(into.length() - 1); // a record needs no line end
            }

            @Override
            public void close() {}
        };
    }

    @Override
    public List<OptionDescription> options() {
        return CsvOptions.DESCRIPTIONS.stream()
                .filter(option -> !OF_FILES.contains(option.name()))
                .toList();
    }
}
