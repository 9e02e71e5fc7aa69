package dev.millrace.connectors.csv;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.TimeFormats;
import dev.millrace.connectors.input.Encoding;
import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The options of separated values, in files and in records; those of times are {@link TimeFormats}. Immutable. */
public record CsvOptions(CsvDialect dialect, TimeFormats formats) {

    static final int DEFAULT_MAX_RECORD_BYTES = 16 << 20;
    private static final int MOST_AFTER_HEADER = 100;
    private static final String ENCODINGS = "utf-8, latin-1, windows-1252, utf-16le or utf-16be";

    /** The options, for help. */
    public static final List<OptionDescription> DESCRIPTIONS = List.of(
            new OptionDescription(
                    "header",
                    "auto",
                    "true: the first record names the fields, columns are matched by name in any order; false: by position;"
                            + " auto: true when the first record names any declared column"),
            new OptionDescription(
                    "delimiter", ",", "one character between fields, also 'tab' (default for .tsv) or 'space'"),
            new OptionDescription("quote", "\"", "one character around fields that hold delimiters; 'none' for none"),
            new OptionDescription("escape", "\"", "one character before a quote within quotes"),
            new OptionDescription(
                    "null",
                    "",
                    "texts that mean NULL when not in quotes, several between '|'; an empty field is always NULL but for"
                            + " text columns"),
            new OptionDescription("decimal_comma", "false", "numbers have a comma for a point"),
            new OptionDescription(
                    "thousands", "", "a mark within numbers to be left out; 'nbsp' for the non-breaking blank"),
            new OptionDescription(
                    "timestamp_format",
                    "PostgreSQL's",
                    "how timestamps are written, such as 'DD/MM/YYYY HH24:MI:SS', 'unix', 'unix_ms', 'unix_us';"
                            + " alternatives between '|'; for one column timestamp_format.<column>"),
            new OptionDescription(
                    "date_format", "PostgreSQL's", "the same for dates; for one column date_format.<column>"),
            new OptionDescription(
                    "time_format", "PostgreSQL's", "the same for times; for one column time_format.<column>"),
            new OptionDescription(
                    "skip_lines",
                    "0",
                    "lines before the header or first record to be skipped; auto: all before a line that names columns"),
            new OptionDescription(
                    "skip_after_header", "0", "lines behind the header to be skipped, such as those of units"),
            new OptionDescription("comment", "", "one character that begins lines to be skipped"),
            new OptionDescription(
                    "trim", "false", "blanks around text do not count (around other values they never do)"),
            new OptionDescription("encoding", "utf-8", ENCODINGS + "; a mark at the beginning of a file says more"),
            new OptionDescription("null_padding", "false", "fields missing at the end of a record are NULL"),
            new OptionDescription(
                    "union_by_name", "false", "columns that the header of a file lacks are NULL in its rows"),
            new OptionDescription("ignore_extra", "false", "fields behind the last column are left out"),
            new OptionDescription("max_record_bytes", "16 MB", "longer records are rejected"));

    /** @param path whose extension may say the delimiter; may be empty */
    public static CsvOptions read(Options options, String path) {
        String extension = path.toLowerCase(Locale.ROOT);
        boolean tabs = extension.endsWith(".tsv") || extension.endsWith(".tsv.gz");
        byte quote = character(options, "quote", "\"");
        String nulls = options.text("null", "");
        CsvDialect dialect = new CsvDialect(
                character(options, "delimiter", tabs ? "tab" : ","),
                quote,
                options.text("escape").isPresent() ? character(options, "escape", "") : quote,
                character(options, "comment", "none"),
                options.text("header").isPresent()
                                && !options.text("header", "").equalsIgnoreCase("auto")
                        ? header(options.bool("header", true))
                        : CsvDialect.Header.AUTO,
                skipLines(options),
                (int) options.integer("skip_after_header", 0, 0, MOST_AFTER_HEADER),
                options.bool("trim", false),
                options.bool("null_padding", false),
                options.bool("union_by_name", false),
                options.bool("ignore_extra", false),
                Arrays.asList(nulls.split("\\|", -1)),
                options.bool("decimal_comma", false),
                thousands(options),
                encoding(options),
                maxRecordBytes(options));
        if (dialect.delimiter() == dialect.quote() || dialect.delimiter() == '\n' || dialect.delimiter() == '\r') {
            throw Options.invalid("delimiter", options.text("delimiter", ","), "neither the quote nor a line end");
        }
        return new CsvOptions(dialect, TimeFormats.read(options));
    }

    /** The option {@code max_record_bytes}. */
    public static int maxRecordBytes(Options options) {
        return (int) options.integer("max_record_bytes", DEFAULT_MAX_RECORD_BYTES, 1024, 256 << 20);
    }

    private static CsvDialect.Header header(boolean present) {
        return present ? CsvDialect.Header.TRUE : CsvDialect.Header.FALSE;
    }

    /** The same where it is known whether there is a header. */
    public CsvOptions withHeader(boolean present) {
        return new CsvOptions(dialect.withHeader(header(present)), formats);
    }

    /** The columns of a relation, with their formats. */
    public List<CsvColumn> columns(Schema schema, Options options) {
        List<CsvColumn> columns = new ArrayList<>();
        for (Field field : schema.fields()) {
            columns.add(new CsvColumn(field, formats.of(field, options, "CSV")));
        }
        return columns;
    }

    /** How timestamps are written, where it is not PostgreSQL's form. */
    public Optional<TimestampFormat> timestampFormat() {
        return formats.timestamps();
    }

    private static int skipLines(Options options) {
        return options.text("skip_lines", "").equalsIgnoreCase("auto")
                ? CsvDialect.UP_TO_HEADER
                : (int) options.integer("skip_lines", 0, 0, Integer.MAX_VALUE);
    }

    private static Encoding encoding(Options options) {
        String name = options.text("encoding", "utf-8");
        return switch (name.toLowerCase(Locale.ROOT).replace("_", "-")) {
            case "utf-8", "utf8" -> Encoding.UTF_8;
            case "latin-1", "latin1", "iso-8859-1" -> Encoding.LATIN_1;
            case "windows-1252", "cp1252" -> Encoding.WINDOWS_1252;
            case "utf-16", "utf-16le", "utf16" -> Encoding.UTF_16LE;
            case "utf-16be" -> Encoding.UTF_16BE;
            default -> throw Options.invalid("encoding", name, ENCODINGS);
        };
    }

    private static String thousands(Options options) {
        String mark = options.text("thousands", "");
        return mark.equals("nbsp") ? "\u00a0" : mark;
    }

    private static byte character(Options options, String name, String defaultValue) {
        String value = options.text(name, defaultValue);
        String character = switch (value.toLowerCase(Locale.ROOT)) {
            case "tab", "\\t" -> "\t";
            case "space", "blank" -> " ";
            case "none", "" -> "\0";
            default -> value;
        };
        if (character.getBytes(StandardCharsets.UTF_8).length != 1
                || (character.equals("\0") && name.equals("delimiter"))) {
            throw Options.invalid(name, value, "one ASCII character, 'tab' or 'space'");
        }
        return (byte) character.charAt(0);
    }
}
