package dev.millrace.connectors.format;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** How dates and times are written in records, where it is not PostgreSQL's own form: the options that formats of text share. */
public record TimeFormats(
        Optional<TimestampFormat> timestamps, Optional<TimestampFormat> dates, Optional<TimestampFormat> times) {

    /** The options, for help. */
    public static final List<OptionDescription> DESCRIPTIONS = List.of(new OptionDescription(
            "timestamp_format",
            "PostgreSQL's",
            "how times are written, such as unix_ms; also date_format and time_format, and for one column"
                    + " timestamp_format.<column>"));

    /** Reads the options {@code timestamp_format}, {@code date_format} and {@code time_format}. */
    public static TimeFormats read(Options options) {
        return new TimeFormats(
                format(options, "timestamp_format"), format(options, "date_format"), format(options, "time_format"));
    }

    /** The format of a column, which {@code timestamp_format.<column>} may give it alone. */
    public Optional<TimestampFormat> of(Field field, Options options, String fileFormat) {
        return switch (field.type().kind()) {
            case TIMESTAMP, TIMESTAMPTZ ->
                format(options, "timestamp_format." + field.name()).or(() -> timestamps);
            case DATE -> format(options, "date_format." + field.name()).or(() -> dates);
            case TIME -> format(options, "time_format." + field.name()).or(() -> times);
            case NULL ->
                throw MillraceException.notAvailableYet(
                        "reading " + field.type() + " (column \"" + field.name() + "\") from " + fileFormat);
            default -> Optional.empty();
        };
    }

    /** The formats of all columns, in their order. */
    public static List<Optional<TimestampFormat>> ofAll(Schema schema, Options options, String format) {
        TimeFormats formats = read(options);
        return schema.fields().stream()
                .map(field -> formats.of(field, options, format))
                .toList();
    }

    private static Optional<TimestampFormat> format(Options options, String name) {
        return options.text(name).map(TimestampFormat::compile);
    }
}
