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
import dev.millrace.connectors.push.MetaColumn;
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
import java.util.function.UnaryOperator;

/**
 * The source {@code file}. Without declared columns they are guessed from a sample of the files, together with how values are written.
 * Every reader starts at the first row.
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

    /**
     * How a query reads files.
     *
     * @param typed what becomes of the columns that were guessed
     * @param onlyAsked whether only values that the query reads are looked at: no other can be wrong then
     */
    record Reading(UnaryOperator<Schema> typed, boolean onlyAsked) {
        /** Columns as they were guessed, and all their values. */
        static final Reading ALL = new Reading(guessed -> guessed, false);
    }

    /** @param guessed what was found in files together with the columns; empty where these were declared */
    private record Read(Schema schema, FileFormat format, Optional<Source.Assumptions> guessed) {
        Read(Schema schema, FileFormat format, boolean isGuessed) {
            this(schema, format, isGuessed ? Optional.of(Source.Assumptions.NONE) : Optional.empty());
        }

        /** With columns of where rows are from. */
        Read including(List<MetaColumn> columns) {
            if (columns.isEmpty()) {
                return this;
            }
            IncludingFormat including = new IncludingFormat(format, schema, columns);
            return new Read(including.schema(), including, guessed);
        }
    }

    @Override
    public String name() {
        return "file";
    }

    @Override
    public Source create(Schema declared, Options options) {
        Envelope.refuseInStream(options);
        String path = options.required("path");
        return ObjectName.isOne(path)
                ? objects(path, options.oneOf("format", FormatName.ofExtension(path)), declared, Reading.ALL, options)
                : files(path, declared, options);
    }

    /**
     * Files that a query names. They are read once, from the beginning to the end.
     *
     * @param format where the name of the first does not say it
     * @throws MillraceException also for an option that the format has not
     */
    static Source queried(List<String> paths, Optional<FormatName> format, Reading reading, Options options) {
        String first = paths.get(0);
        FormatName name = format.orElse(FormatName.ofExtension(first));
        if (ObjectName.isOne(first)) {
            return objects(String.join(",", paths), name, new Schema(List.of()), reading, options);
        }
        FilePaths files = FilePaths.named(paths);
        FileSource.Order order = options.oneOf("order", FileSource.Order.TIME);
        Read read = read(name, first, new Schema(List.of()), files.list(), reading, options)
                .including(IncludedColumns.read(options));
        options.rejectUnread();
        if (!files.hasPattern()) {
            read.format().check(files.list().get(0));
        }
        return new FileSource(read.schema(), files, read.format(), false, order, Optional.empty(), read.guessed());
    }

    private static Source files(String path, Schema declared, Options options) {
        FilePaths paths = new FilePaths(path);
        Mode mode = options.oneOf("mode", Mode.ONCE);
        FileSource.Order order = options.oneOf("order", FileSource.Order.TIME);
        FormatName name = options.oneOf("format", FormatName.ofExtension(path));
        Read read = read(name, path, declared, declared.size() == 0 ? paths.list() : List.of(), Reading.ALL, options)
                .including(IncludedColumns.read(options));
        Optional<FileSource.Pace> pace = pace(read.schema(), options);
        options.rejectUnread();
        if (!paths.hasPattern()) {
            read.format().check(paths.list().get(0));
        }
        if (mode == Mode.FOLLOW && (name == FormatName.ARROW || name == FormatName.PARQUET)) {
            throw MillraceException.notAvailableYet(
                    "following " + (name == FormatName.ARROW ? "Arrow" : "Parquet") + " files");
        }
        if (mode == Mode.FOLLOW && order == FileSource.Order.NAME) {
            throw MillraceException.notAvailableYet("following files in the order of their names");
        }
        return new FileSource(read.schema(), paths, read.format(), mode == Mode.FOLLOW, order, pace, read.guessed());
    }

    /** Objects are never written on: what follows is new ones. */
    private static Source objects(String path, FormatName name, Schema declared, Reading reading, Options options) {
        ObjectPaths paths = new ObjectPaths(path);
        StoreOptions store = StoreOptions.read(options);
        if (!IncludedColumns.read(options).isEmpty()) {
            throw MillraceException.notAvailableYet("INCLUDE of objects of a store");
        }
        boolean isFollowed = options.oneOf("mode", Mode.ONCE) == Mode.FOLLOW;
        long everyMicros = options.durationMicros(LIST_INTERVAL, DEFAULT_LIST_MICROS);
        if (everyMicros < LEAST_LIST_MICROS) {
            throw Options.invalid(LIST_INTERVAL, options.text(LIST_INTERVAL, ""), "100 ms or more");
        }
        boolean isWhole = name == FormatName.ARROW || name == FormatName.PARQUET;
        Read read;
        if (declared.size() > 0) {
            read = read(name, path, declared, List.of(), reading, options);
            options.rejectUnread();
        } else {
            try (ObjectSample sample = new ObjectSample(store, paths, isWhole)) {
                read = read(name, path, declared, List.of(sample.file()), reading, options);
                options.rejectUnread();
                read.format().check(sample.file());
            }
        }
        return new ObjectSource(
                read.schema(),
                store,
                paths,
                read.format(),
                isFollowed ? OptionalLong.of(everyMicros) : OptionalLong.empty(),
                read.guessed());
    }

    /** @param samples files to guess columns from; none if they are declared */
    private static Read read(
            FormatName name, String path, Schema declared, List<Path> samples, Reading reading, Options options) {
        return switch (name) {
            case CSV -> csv(declared, path, samples, reading, options);
            case JSON -> json(declared, samples, reading, options);
            case ARROW -> arrow(declared, samples, reading);
            case PARQUET -> parquet(declared, samples, reading);
        };
    }

    private static Read csv(Schema declared, String path, List<Path> samples, Reading reading, Options options) {
        if (declared.size() > 0) {
            CsvOptions csv = CsvOptions.read(options, path);
            return new Read(
                    declared, new CsvFormat(csv.columns(declared, options), csv.dialect(), reading.onlyAsked()), false);
        }
        CsvInference.Inferred inferred = CsvInference.infer(samples, path, options);
        Schema schema = known(reading.typed().apply(inferred.schema()), samples, "declare the columns");
        Options settled = options.and(inferred.assumed());
        CsvOptions csv = CsvOptions.read(settled, path);
        return new Read(
                schema,
                new CsvFormat(csv.columns(schema, settled), csv.dialect(), reading.onlyAsked()),
                Optional.of(new Source.Assumptions(inferred.assumed(), inferred.remarks())));
    }

    private static Read json(Schema declared, List<Path> samples, Reading reading, Options options) {
        boolean isGuessed = declared.size() == 0;
        Schema schema = isGuessed
                ? known(
                        reading.typed().apply(JsonInference.ofFiles(samples)),
                        samples,
                        "each line must hold one JSON object, as `jq -c .[]` writes the elements of an array; or declare"
                                + " the columns")
                : declared;
        return new Read(
                schema,
                JsonRecordFormatFactory.files(schema, options, CsvOptions.maxRecordBytes(options), reading.onlyAsked()),
                isGuessed);
    }

    private static Read arrow(Schema declared, List<Path> samples, Reading reading) {
        boolean isGuessed = declared.size() == 0;
        Schema schema = isGuessed
                ? known(reading.typed().apply(ArrowFormat.infer(samples.get(0))), samples, "declare the columns")
                : declared;
        return new Read(schema, new ArrowFormat(schema), isGuessed);
    }

    private static Read parquet(Schema declared, List<Path> samples, Reading reading) {
        boolean isGuessed = declared.size() == 0;
        Schema schema = isGuessed
                ? known(reading.typed().apply(ParquetFormat.infer(samples.get(0))), samples, "declare the columns")
                : declared;
        return new Read(schema, new ParquetFormat(schema), isGuessed);
    }

    private static Schema known(Schema schema, List<Path> samples, String hint) {
        if (schema.size() == 0) {
            String others = samples.size() > 1 ? ", nor has another" : "";
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "columns cannot be guessed: file \"" + samples.get(0) + "\" has no records" + others)
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
                        "order",
                        "time",
                        "time: where event time counts, files in the order of their first rows, each judged late by itself;"
                                + " name: one after the other by their names, as if they were one file"),
                new OptionDescription(
                        "pace", "max", "max, or how many times as fast as event time rows are given out: 1 as it was"),
                new OptionDescription("pace.column", "the first timestamp", "the column whose times set the pace"),
                new OptionDescription(
                        "json.path.<column>",
                        "the column's name",
                        "JSON: where the value is, such as position.lat or readings[0].value")));
        for (String what : List.of("filename", "line", "modified")) {
            all.add(new OptionDescription("include." + what, "", "a column of that name, as INCLUDE " + what));
        }
        all.add(new OptionDescription(LIST_INTERVAL, "30s", "s3, mode follow: between two looks for new objects"));
        all.addAll(StoreOptions.descriptions());
        all.addAll(CsvOptions.DESCRIPTIONS);
        return List.copyOf(all);
    }
}
