package dev.millrace.connectors.file;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.query.FileCall;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.connectors.csv.CsvOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Files that a query names: DuckDB's options and those of the source {@code file}, under one roof. What is not said is found out, as CREATE STREAM
 * finds it. Stateless but for the call.
 */
public final class QueriedFiles {
    /** DuckDB's names for options of the source. */
    private static final Map<String, String> OURS = Map.ofEntries(
            Map.entry("delim", "delimiter"),
            Map.entry("sep", "delimiter"),
            Map.entry("nullstr", "null"),
            Map.entry("dateformat", "date_format"),
            Map.entry("timestampformat", "timestamp_format"),
            Map.entry("skip", "skip_lines"),
            Map.entry("max_line_size", "max_record_bytes"),
            Map.entry("maximum_line_size", "max_record_bytes"),
            Map.entry("maximum_object_size", "max_record_bytes"),
            Map.entry("filename", "include.filename"),
            Map.entry("line", "include.line"),
            Map.entry("modified", "include.modified"));

    /** Options that say what is so anyway, with the values that do. */
    private static final Map<String, Set<String>> SO_ANYWAY = Map.of(
            "auto_detect", Set.of("true", "1"),
            "compression", Set.of("auto", "auto_detect", "gzip", "none", "uncompressed"), // which names say
            "hive_partitioning", Set.of("false", "0"),
            "records", Set.of("true", "auto"),
            "format", Set.of("auto", "newline_delimited", "nd"),
            "sample_size", Set.of(),
            "parallel", Set.of());

    private static final Set<String> OF_ALL = Set.of("filename", "line", "modified", "order", "compression");
    private static final Set<String> OF_TEXT = Set.of("ignore_errors", "types", "columns", "sample_size");
    private static final Set<String> OF_CSV = Set.of(
            "delim",
            "sep",
            "nullstr",
            "dateformat",
            "timestampformat",
            "skip",
            "max_line_size",
            "decimal_separator",
            "all_varchar",
            "auto_detect",
            "parallel",
            "hive_partitioning");
    private static final Set<String> OF_JSON =
            Set.of("dateformat", "timestampformat", "maximum_object_size", "format", "records", "union_by_name");

    private final FileCall call;
    private final Map<String, String> options = new LinkedHashMap<>(); // of the source
    private boolean ignoresErrors;
    private boolean isAllText;

    private QueriedFiles(FileCall call) {
        this.call = call;
    }

    /**
     * Looks at the files.
     *
     * @param references how texts are resolved that refer to secrets
     * @throws MillraceException if there are none (58P01), they cannot be read, or (22023) an option is not there or has no such value
     */
    public static FileRelation find(FileCall call, Options.References references) {
        return new QueriedFiles(call).find(references);
    }

    /** The options of the source {@code file} that a call gives, with its path; nothing is looked at. */
    public static Map<String, String> options(FileCall call) {
        QueriedFiles files = new QueriedFiles(call);
        files.settle();
        Map<String, String> all = new LinkedHashMap<>();
        all.put("connector", "file");
        all.put("path", String.join(",", call.paths()));
        all.putAll(files.options);
        return all;
    }

    private FileRelation find(Options.References references) {
        settle();
        Optional<FormatName> format = switch (call.function()) {
            case "read_csv" -> Optional.of(FormatName.CSV);
            case "read_json" -> Optional.of(FormatName.JSON);
            case "read_parquet" -> Optional.of(FormatName.PARQUET);
            case "read_arrow" -> Optional.of(FormatName.ARROW);
            default -> Optional.empty();
        };
        FileSourceFactory.Reading reading = new FileSourceFactory.Reading(this::typed, !ignoresErrors);
        Source source = FileSourceFactory.queried(call.paths(), format, reading, new Options(options, references));
        Map<String, String> all = new LinkedHashMap<>(options);
        all.putAll(source.assumptions().options());
        String function = format.orElse(FormatName.ofExtension(call.paths().get(0)))
                .name()
                .toLowerCase(Locale.ROOT);
        return new FileRelation(
                text("read_" + function, all),
                source,
                ignoresErrors,
                options(call),
                source.assumptions().remarks());
    }

    /** Columns of the types that were said; of others than that no types are said, none may be left over. */
    private Schema typed(Schema guessed) {
        if (call.isWhole()) {
            return new Schema(call.types().entrySet().stream()
                    .map(column -> new Field(column.getKey(), column.getValue(), true))
                    .toList());
        }
        for (String column : call.types().keySet()) {
            if (guessed.indexOf(column) < 0) {
                MillraceException error = MillraceException.user(
                        SqlState.UNDEFINED_COLUMN, "column \"" + column + "\" of option \"types\" does not exist");
                throw Suggestion.nearest(column, guessed.names())
                        .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                        .orElseGet(() -> error.withHint("there are: " + String.join(", ", guessed.names())));
            }
        }
        return new Schema(guessed.fields().stream()
                .map(field -> new Field(
                        field.name(),
                        call.types().getOrDefault(field.name(), isAllText ? DataType.TEXT : field.type()),
                        field.nullable()))
                .toList());
    }

    // ---- options ---------------------------------------------------------------------------------------------------

    private void settle() {
        call.options().forEach((name, values) -> {
            requireKnown(name);
            if (SO_ANYWAY.containsKey(name)) {
                requireSo(name, only(name, values));
            } else {
                put(name, values);
            }
        });
        if (!call.types().isEmpty() && !isText()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "columns of " + format() + " files have types of their own")
                    .withHint("SELECT column::type FROM ..");
        }
    }

    private void put(String name, List<String> values) {
        String ours = OURS.getOrDefault(name, name);
        switch (name) {
            case "ignore_errors" -> ignoresErrors = isTrue(name, only(name, values));
            case "all_varchar" -> isAllText = isTrue(name, only(name, values));
            case "decimal_separator" -> {
                String mark = only(name, values);
                if (!mark.equals(",") && !mark.equals(".")) {
                    throw Options.invalid(name, mark, "',' or '.'");
                }
                give("decimal_comma", String.valueOf(mark.equals(",")));
            }
            case "filename", "line", "modified" -> {
                String value = only(name, values);
                if (!value.equals("false") && !value.equals("0")) {
                    give(ours, value.equals("true") || value.equals("1") ? name : value);
                }
            }
            case "null", "nullstr" -> give(ours, String.join("|", values));
            case "dateformat", "timestampformat", "date_format", "timestamp_format", "time_format" ->
                give(
                        ours,
                        values.stream()
                                .map(format -> DateTemplates.template(name, format))
                                .collect(Collectors.joining("|")));
            case "quote", "escape", "comment" -> {
                String value = only(name, values);
                give(ours, value.isEmpty() ? "none" : value);
            }
            case "union_by_name" -> {
                if (FormatName.JSON.name().equals(format())) {
                    requireSo(name, only(name, values));
                } else {
                    give(ours, only(name, values));
                }
            }
            default -> give(ours, only(name, values));
        }
    }

    private void give(String option, String value) {
        if (options.put(option, value) != null) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "option \"" + option + "\" is given by two names");
        }
    }

    private static String only(String name, List<String> values) {
        if (values.size() != 1) {
            throw Options.invalid(name, String.join(", ", values), "one value");
        }
        return values.get(0);
    }

    private static boolean isTrue(String name, String value) {
        return new Options(Map.of(name, value)).bool(name, false);
    }

    private static void requireSo(String name, String value) {
        Set<String> accepted = SO_ANYWAY.getOrDefault(name, Set.of("true", "1"));
        if (!accepted.isEmpty() && !accepted.contains(value.toLowerCase(Locale.ROOT))) {
            throw Options.invalid(
                    name,
                    value,
                    accepted.size() == 1
                            ? accepted.iterator().next()
                            : "one of " + String.join(", ", new TreeSet<>(accepted)));
        }
    }

    private void requireKnown(String name) {
        boolean isOfStore = name.startsWith("s3.");
        boolean isOfColumn = isText() && name.matches("(date_format|time_format|timestamp_format|json\\.path)\\..+");
        Set<String> known = known();
        if (!known.contains(name) && !isOfStore && !isOfColumn) {
            String function = call.function().isEmpty() ? "read_" + format().toLowerCase(Locale.ROOT) : call.function();
            MillraceException error = MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "option \"" + name + "\" of " + function + " does not exist");
            String all = "there are: " + String.join(", ", known);
            throw Suggestion.nearest(name, known)
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"? " + all))
                    .orElseGet(() -> error.withHint(all));
        }
    }

    private Set<String> known() {
        Set<String> known = new TreeSet<>(OF_ALL);
        if (isText()) {
            known.addAll(OF_TEXT);
        }
        if (format().equals(FormatName.CSV.name())) {
            known.addAll(OF_CSV);
            CsvOptions.DESCRIPTIONS.stream().map(OptionDescription::name).forEach(known::add);
        } else if (isText()) {
            known.addAll(OF_JSON);
            known.addAll(Set.of("date_format", "time_format", "timestamp_format", "max_record_bytes"));
        }
        return known;
    }

    private boolean isText() {
        return format().equals(FormatName.CSV.name()) || format().equals(FormatName.JSON.name());
    }

    private String format() {
        return call.function().isEmpty()
                ? FormatName.ofExtension(call.paths().get(0)).name()
                : call.function().substring("read_".length()).toUpperCase(Locale.ROOT);
    }

    // ---- as text ---------------------------------------------------------------------------------------------------

    private String text(String function, Map<String, String> all) {
        List<String> arguments = new ArrayList<>();
        String paths = call.paths().stream().map(QueriedFiles::quoted).collect(Collectors.joining(", "));
        arguments.add(call.paths().size() == 1 ? paths : "ARRAY[" + paths + "]");
        all.forEach((name, value) -> arguments.add(
                (name.matches("[a-z_]+") ? name : "\"" + name.replace("\"", "\"\"") + "\"") + " => " + quoted(value)));
        if (ignoresErrors) {
            arguments.add("ignore_errors => 'true'");
        }
        if (isAllText) {
            arguments.add("all_varchar => 'true'");
        }
        if (!call.types().isEmpty()) {
            arguments.add(call.types().entrySet().stream()
                    .map(column -> quoted(column.getKey()) + ": "
                            + quoted(column.getValue().toString()))
                    .collect(Collectors.joining(", ", (call.isWhole() ? "columns" : "types") + " => {", "}")));
        }
        return function + "(" + String.join(", ", arguments) + ")";
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "''") + "'";
    }
}
