package dev.millrace.connectors.file;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.arrow.ArrowFormat;
import dev.millrace.connectors.csv.CsvFormat;
import dev.millrace.connectors.csv.CsvInference;
import dev.millrace.connectors.csv.CsvOptions;
import dev.millrace.connectors.envelope.Envelope;
import dev.millrace.connectors.input.FileFormat;
import dev.millrace.connectors.input.FilePaths;
import dev.millrace.connectors.json.JsonInference;
import dev.millrace.connectors.json.JsonRecordFormatFactory;
import dev.millrace.connectors.parquet.ParquetFormat;
import dev.millrace.connectors.s3.ObjectName;
import dev.millrace.connectors.s3.ObjectPaths;
import dev.millrace.connectors.s3.ObjectSample;
import dev.millrace.connectors.s3.ObjectSource;
import dev.millrace.connectors.s3.StoreOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The source {@code file}. Without declared columns they are guessed from the beginning of the first file. Every reader
 * starts at the first row.
 */
public final class FileSourceFactory implements SourceFactory {
    /** What happens at the end of the files. */
    enum Mode {
        ONCE,
        FOLLOW
    }

    private static final String LIST_INTERVAL = "s3.list_interval";
    private static final long DEFAULT_LIST_MICROS = 30_000_000;
    private static final long LEAST_LIST_MICROS = 100_000;

    private record Read(Schema schema, FileFormat format) {}

    @Override
    public String name() {
        return "file";
    }

    @Override
    public Source create(Schema declared, Options options) {
        Envelope.refuseInStream(options);
        String path = options.required("path");
        return ObjectName.isOne(path) ? objects(path, declared, options) : files(path, declared, options);
    }

    private static Source files(String path, Schema declared, Options options) {
        FilePaths paths = new FilePaths(path);
        Mode mode = options.oneOf("mode", Mode.ONCE);
        FormatName name = options.oneOf("format", FormatName.ofExtension(path));
        Optional<Path> sample = declared.size() == 0 || !paths.hasPattern()
                ? Optional.of(paths.list().get(0))
                : Optional.empty();
        Read read = read(name, path, declared, sample, options);
        Optional<FileSource.Pace> pace = pace(read.schema(), options);
        options.rejectUnread();
        sample.ifPresent(read.format()::check);
        if (mode == Mode.FOLLOW && (name == FormatName.ARROW || name == FormatName.PARQUET)) {
            throw MillraceException.notAvailableYet(
                    "following " + (name == FormatName.ARROW ? "Arrow" : "Parquet") + " files");
        }
        return new FileSource(read.schema(), paths, read.format(), mode == Mode.FOLLOW, pace);
    }

    /** Objects are never written on: what follows is new ones. */
    private static Source objects(String path, Schema declared, Options options) {
        ObjectPaths paths = new ObjectPaths(path);
        StoreOptions store = StoreOptions.read(options);
        boolean isFollowed = options.oneOf("mode", Mode.ONCE) == Mode.FOLLOW;
        FormatName name = options.oneOf("format", FormatName.ofExtension(path));
        long everyMicros = options.durationMicros(LIST_INTERVAL, DEFAULT_LIST_MICROS);
        if (everyMicros < LEAST_LIST_MICROS) {
            throw Options.invalid(LIST_INTERVAL, options.text(LIST_INTERVAL, ""), "100 ms or more");
        }
        boolean isWhole = name == FormatName.ARROW || name == FormatName.PARQUET;
        Read read;
        if (declared.size() > 0) {
            read = read(name, path, declared, Optional.empty(), options);
            options.rejectUnread();
        } else {
            try (ObjectSample sample = new ObjectSample(store, paths, isWhole)) {
                read = read(name, path, declared, Optional.of(sample.file()), options);
                options.rejectUnread();
                read.format().check(sample.file());
            }
        }
        return new ObjectSource(
                read.schema(),
                store,
                paths,
                read.format(),
                isFollowed ? OptionalLong.of(everyMicros) : OptionalLong.empty());
    }

    private static Read read(FormatName name, String path, Schema declared, Optional<Path> sample, Options options) {
        return switch (name) {
            case CSV -> csv(declared, path, sample, options);
            case JSON -> json(declared, sample, options);
            case ARROW -> arrow(declared, sample);
            case PARQUET -> parquet(declared, sample);
        };
    }

    private static Read csv(Schema declared, String path, Optional<Path> sample, Options options) {
        CsvOptions csv = CsvOptions.read(options, path);
        if (declared.size() > 0) {
            return new Read(declared, new CsvFormat(csv.columns(declared, options), csv.dialect()));
        }
        CsvInference.Inferred inferred = CsvInference.infer(sample.orElseThrow(), csv.dialect(), csv.timestampFormat());
        Schema schema = known(inferred.schema(), sample.get(), "declare the columns");
        CsvOptions settled = csv.withHeader(inferred.header());
        return new Read(schema, new CsvFormat(settled.columns(schema, options), settled.dialect()));
    }

    private static Read json(Schema declared, Optional<Path> sample, Options options) {
        Schema schema = declared.size() > 0
                ? declared
                : known(
                        JsonInference.infer(sample.orElseThrow()),
                        sample.get(),
                        "each line must hold one JSON object, as `jq -c .[]` writes the elements of an array; or declare"
                                + " the columns");
        return new Read(schema, JsonRecordFormatFactory.files(schema, options, CsvOptions.maxRecordBytes(options)));
    }

    private static Read arrow(Schema declared, Optional<Path> sample) {
        Schema schema = declared.size() > 0
                ? declared
                : known(ArrowFormat.infer(sample.orElseThrow()), sample.get(), "declare the columns");
        return new Read(schema, new ArrowFormat(schema));
    }

    private static Read parquet(Schema declared, Optional<Path> sample) {
        Schema schema = declared.size() > 0
                ? declared
                : known(ParquetFormat.infer(sample.orElseThrow()), sample.get(), "declare the columns");
        return new Read(schema, new ParquetFormat(schema));
    }

    private static Schema known(Schema schema, Path sample, String hint) {
        if (schema.size() == 0) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "columns cannot be guessed: file \"" + sample + "\" has no records")
                    .withHint(hint);
        }
        return schema;
    }

    private static Optional<FileSource.Pace> pace(Schema schema, Options options) {
        String pace = options.text("pace", "max");
        Optional<String> named = options.text("pace.column");
        if (pace.equalsIgnoreCase("max") || pace.equals("0")) {
            return Optional.empty();
        }
        double factor = options.positive("pace", 1);
        String column = named.orElseGet(() -> schema.fields().stream()
                .filter(field -> field.type().isTimestamp())
                .map(Field::name)
                .findFirst()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "option \"pace\" needs a timestamp column")));
        int place = schema.indexOf(column);
        if (place < 0) {
            MillraceException error = MillraceException.user(
                    SqlState.UNDEFINED_COLUMN, "column \"" + column + "\" of option \"pace.column\" does not exist");
            throw Suggestion.nearest(column, schema.names())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElse(error);
        }
        if (!schema.type(place).isTimestamp()) {
            throw Options.invalid("pace.column", column, "a timestamp column");
        }
        return Optional.of(new FileSource.Pace(place, factor));
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(List.of(
                new OptionDescription(
                        "path",
                        "",
                        "a file (or s3://bucket/key), a pattern with * ? [..] {..} or **, or several between commas; .gz is unpacked"),
                new OptionDescription(
                        "format",
                        "by extension",
                        "csv, json (one object per line), arrow (IPC file or stream) or parquet"),
                new OptionDescription(
                        "mode", "once", "once: ends with the files; follow: goes on when they grow or new ones match"),
                new OptionDescription(
                        "pace", "max", "max, or how many times as fast as event time rows are given out: 1 as it was"),
                new OptionDescription("pace.column", "the first timestamp", "the column whose times set the pace"),
                new OptionDescription(
                        "json.path.<column>",
                        "the column's name",
                        "JSON: where the value is, such as position.lat or readings[0].value")));
        all.add(new OptionDescription(LIST_INTERVAL, "30s", "s3, mode follow: between two looks for new objects"));
        all.addAll(StoreOptions.descriptions());
        all.addAll(CsvOptions.DESCRIPTIONS);
        return List.copyOf(all);
    }
}
