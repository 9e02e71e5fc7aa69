package dev.millrace.connectors.file;

import dev.millrace.batch.Closing;
import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.connectors.directory.DirectorySink;
import dev.millrace.connectors.directory.ObjectSink;
import dev.millrace.connectors.directory.PartFormat;
import dev.millrace.connectors.directory.PartitionColumns;
import dev.millrace.connectors.parquet.ParquetCompression;
import dev.millrace.connectors.parquet.ParquetParts;
import dev.millrace.connectors.s3.ObjectName;
import dev.millrace.connectors.s3.StoreOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The sink {@code file}. Rows of an epoch become part of the file when it is committed; what a failed query wrote of an
 * uncommitted epoch is cut off again. Where rows can be retracted, a first column {@code op} says {@code +} or {@code -};
 * Arrow files hold it as a column as well.
 */
public final class FileSinkFactory implements SinkFactory {
    /** What becomes of a file that exists. */
    enum Existing {
        REPLACE,
        APPEND
    }

    /** What readers of a directory may rely on after a crash. */
    enum Delivery {
        AT_LEAST_ONCE,
        EXACTLY_ONCE
    }

    @Override
    public String name() {
        return "file";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        String given = options.required("path");
        FormatName format = options.oneOf("format", FormatName.ofExtension(given));
        if (ObjectName.isOne(given)) {
            return objects(given, format, schema, appendOnly, options, context);
        }
        Path path = Path.of(given);
        if (given.endsWith("/")) {
            return parts(
                    format,
                    schema,
                    appendOnly,
                    options,
                    context,
                    (partitions, parts, exactlyOnce) ->
                            DirectorySink.open(context, path, partitions, parts, exactlyOnce, options));
        }
        if (format == FormatName.PARQUET) {
            throw Options.invalid(
                    "path", given, "a directory, such as '" + given + "/', for files that end with their last row");
        }
        Existing existing = options.oneOf("existing", Existing.REPLACE);
        if (format == FormatName.ARROW) {
            options.rejectUnread();
            if (existing == Existing.APPEND) {
                throw Options.invalid("existing", "append", "replace for Arrow files");
            }
            return new ArrowFileSink(path, schema, appendOnly, length(context));
        }
        String operation = options.text("op_column", "op");
        RowText text = switch (format) {
            case CSV ->
                RowText.csv(
                        schema,
                        new CsvRows(delimiter(options)),
                        options.bool("header", true),
                        appendOnly ? "" : operation);
            case JSON -> RowText.json(schema, appendOnly ? "" : operation);
            case ARROW, PARQUET -> throw MillraceException.internal(format + " is no text");
        };
        options.rejectUnread();
        return new TextFileSink(new CommittedFile(path, existing == Existing.APPEND, length(context)), text);
    }

    private static Optional<CommittedLength> length(SinkContext context) {
        return context.home().map(home -> new CommittedLength(home.directory()));
    }

    private interface Opening {
        Sink open(PartitionColumns partitions, PartFormat parts, boolean exactlyOnce);
    }

    private static Sink objects(
            String given, FormatName format, Schema schema, boolean appendOnly, Options options, SinkContext context) {
        ObjectName target = ObjectName.of(given);
        if (!target.key().isEmpty() && !target.key().endsWith("/")) {
            throw Options.invalid("path", given, "what keys begin with, such as '" + given + "/'");
        }
        StoreOptions store = StoreOptions.read(options);
        return parts(
                format,
                schema,
                appendOnly,
                options,
                context,
                (partitions, parts, exactlyOnce) ->
                        ObjectSink.open(context, target, store, partitions, parts, exactlyOnce, options));
    }

    private static Sink parts(
            FormatName format,
            Schema schema,
            boolean appendOnly,
            Options options,
            SinkContext context,
            Opening opening) {
        if (!appendOnly) {
            throw MillraceException.notAvailableYet("a directory of files for a query that takes rows back")
                    .withHint(
                            "one file marks rows that are taken back: path = 'out.csv'; or sink a stream of changes that are final,"
                                    + " as windows are");
        }
        PartitionColumns partitions = PartitionColumns.read(schema, options);
        boolean isKept = context.home().isPresent();
        Delivery delivery = options.oneOf("delivery", isKept ? Delivery.EXACTLY_ONCE : Delivery.AT_LEAST_ONCE);
        // the rows of a file that is not complete are in no other place once a checkpoint has them
        boolean exactlyOnce = isKept || delivery == Delivery.EXACTLY_ONCE;
        Schema written = partitions.written();
        PartFormat parts = switch (format) {
            case CSV ->
                new TextParts(
                        "csv", RowText.csv(written, new CsvRows(delimiter(options)), options.bool("header", true), ""));
            case JSON -> new TextParts("jsonl", RowText.json(written, ""));
            case ARROW -> new ArrowParts(written);
            case PARQUET -> new ParquetParts(written, options.oneOf("compression", ParquetCompression.ZSTD));
        };
        Optional<Sink> opened = Optional.empty();
        try {
            opened = Optional.of(opening.open(partitions, parts, exactlyOnce));
            options.rejectUnread();
            return opened.get();
        } catch (RuntimeException | Error e) {
            Closing.all(List.of(opened.<AutoCloseable>map(sink -> sink).orElse(parts)));
            throw e;
        }
    }

    private static byte delimiter(Options options) {
        String value = options.text("delimiter", ",");
        String character = value.equalsIgnoreCase("tab") ? "\t" : value;
        if (character.length() != 1 || character.charAt(0) > 127 || "\"\n\r".contains(character)) {
            throw Options.invalid("delimiter", value, "one ASCII character, or 'tab'");
        }
        return (byte) character.charAt(0);
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(
                List.of(
                        new OptionDescription(
                                "path", "", "the file; or, with a / at its end, the directory, or s3://bucket/prefix/"),
                        new OptionDescription("format", "by extension", "csv, json, arrow or, in a directory, parquet"),
                        new OptionDescription(
                                "existing", "replace", "what becomes of a file that exists: replace or append"),
                        new OptionDescription(
                                "header", "true", "CSV: whether a new file begins with the columns' names"),
                        new OptionDescription("delimiter", ",", "CSV: one character between fields, or 'tab'"),
                        new OptionDescription(
                                "op_column",
                                "op",
                                "CSV and JSON: the column that says + or - where rows can be retracted"),
                        new OptionDescription("compression", "zstd", "Parquet: zstd, snappy or none"),
                        new OptionDescription(
                                "delivery",
                                "exactly_once with a data directory",
                                "directory: exactly_once shows files when a checkpoint has their rows, as at_least_once does with a data directory; without one that shows them when they are complete")));
        all.addAll(DirectorySink.options());
        all.addAll(ObjectSink.options());
        all.addAll(StoreOptions.descriptions());
        return all;
    }
}
