package dev.millrace.cli.shell;

import dev.millrace.cli.format.AlignedTable;
import dev.millrace.cli.format.ResultFormat;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Comments;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.session.Session;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The commands that start with a backslash: psql's, as far as they make sense here. */
final class BackslashCommands {
    /** Each command with its line of help. */
    static final Map<String, String> HELP = new TreeMap<>(Map.ofEntries(
            Map.entry("\\?", "this help"),
            Map.entry("\\d", "[NAME]  list relations, or describe one"),
            Map.entry("\\d+", "NAME  the same, with splits of connectors, costs of columns, and what runs where"),
            Map.entry("\\ds", "list streams"),
            Map.entry("\\dt", "list tables"),
            Map.entry("\\dq", "list continuous queries"),
            Map.entry("\\dv", "list materialized views"),
            Map.entry("\\dk", "list sinks"),
            Map.entry("\\df", "list functions"),
            Map.entry("\\di", "list indexes"),
            Map.entry("\\dn", "list the schemas that users made"),
            Map.entry("\\dS", "list system relations"),
            Map.entry("\\echo", "TEXT  write a text"),
            Map.entry("\\format", "table|csv|json  the form of results"),
            Map.entry("\\flush", "[on|off]  whether a SELECT waits for all that was accepted, files to their end"),
            Map.entry("\\i", "FILE  run the statements of a file"),
            Map.entry("\\q", "quit"),
            Map.entry("\\timing", "[on|off]  say how long statements take"),
            Map.entry("\\x", "[on|off]  results as a line per column")));

    private static final String BACKFILLS =
            "SELECT stream || ' ' || state || ', ' || percent || ' % (' || rows || ' of ' || all_rows || ' rows)',"
                    + " CASE WHEN state = 'reading' THEN round(seconds_left::numeric, 0) END"
                    + " FROM millrace.backfills WHERE query = $1 ORDER BY stream";

    private static final String RELATION_NOTE = "SELECT relation_note(oid::text, '0') FROM pg_catalog.pg_class"
            + " WHERE relname = $1 AND relkind <> 'i' AND relnamespace = 'public'::regnamespace";
    private static final String COLUMN_NOTES = "SELECT attname, relation_note(attrelid::text, attnum::text) FROM"
            + " pg_catalog.pg_attribute WHERE attrelid = (SELECT max(oid) FROM pg_catalog.pg_class WHERE relname = $1 AND"
            + " relkind <> 'i' AND relnamespace = 'public'::regnamespace)";

    private final Shell shell;
    private final Session session;
    private final Streams streams;

    BackslashCommands(Shell shell, Session session, Streams streams) {
        this.shell = shell;
        this.session = session;
        this.streams = streams;
    }

    /** Runs a line such as {@code \d readings}; a value is the exit code that it asks for. */
    OptionalInt run(String line) throws IOException {
        String[] words = line.replaceFirst(";\\s*$", "").strip().split("\\s+", 2);
        String argument = words.length > 1 ? words[1].strip() : "";
        switch (words[0]) {
            case "\\q" -> {
                return OptionalInt.of(0);
            }
            case "\\?", "\\h" -> help();
            case "\\d" -> {
                if (argument.isEmpty()) {
                    list(object -> object.kind() != ObjectKind.SCHEMA);
                } else {
                    describe(argument, false);
                }
            }
            case "\\d+" -> describe(argument, true);
            case "\\ds" -> list(object -> object.kind() == ObjectKind.STREAM);
            case "\\dt" -> list(object -> object.kind() == ObjectKind.TABLE);
            case "\\dq" -> list(object -> object.kind() == ObjectKind.CONTINUOUS_QUERY);
            case "\\dv" ->
                list(object -> object.kind() == ObjectKind.MATERIALIZED_VIEW || object.kind() == ObjectKind.VIEW);
            case "\\dk" -> list(object -> object.kind() == ObjectKind.SINK);
            case "\\df" -> list(object -> object.kind() == ObjectKind.FUNCTION);
            case "\\dn" -> list(object -> object.kind() == ObjectKind.SCHEMA);
            case "\\di" -> list(object -> object.kind() == ObjectKind.INDEX);
            case "\\dS" -> listSystem();
            case "\\echo" -> streams.out().write(argument + "\n");
            case "\\i" -> {
                return include(argument);
            }
            case "\\x" -> {
                boolean expanded = toggled(argument, shell.mode().format() == ResultFormat.EXPANDED);
                shell.mode(shell.mode().withFormat(expanded ? ResultFormat.EXPANDED : ResultFormat.TABLE));
                tell("Expanded display is " + onOff(expanded) + ".");
            }
            case "\\timing" -> {
                shell.mode(
                        shell.mode().withTiming(toggled(argument, shell.mode().timing())));
                tell("Timing is " + onOff(shell.mode().timing()) + ".");
            }
            case "\\flush" -> {
                boolean flush = toggled(argument, shell.mode().flushBeforeSelect());
                shell.mode(shell.mode().withFlushBeforeSelect(flush));
                tell("Flush before SELECT is " + onOff(flush) + ".");
            }
            case "\\format" -> {
                shell.mode(shell.mode().withFormat(format(argument)));
                tell("Output format is " + argument + ".");
            }
            default -> throw unknown(words[0]);
        }
        streams.out().flush();
        return OptionalInt.empty();
    }

    private static MillraceException unknown(String command) {
        MillraceException error = MillraceException.user(SqlState.SYNTAX_ERROR, "there is no command " + command);
        return error.withHint(Suggestion.nearest(command, HELP.keySet())
                .map(nearest -> "did you mean " + nearest + "? \\? lists them")
                .orElse("\\? lists them"));
    }

    private void tell(String text) {
        streams.err().println(text);
    }

    private static String onOff(boolean on) {
        return on ? "on" : "off";
    }

    private static boolean toggled(String argument, boolean now) {
        return switch (argument) {
            case "" -> !now;
            case "on" -> true;
            case "off" -> false;
            default ->
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "on or off is expected, not \"" + argument + "\"");
        };
    }

    static ResultFormat format(String name) {
        for (ResultFormat format : ResultFormat.values()) {
            if (format.name().equalsIgnoreCase(name)) {
                return format;
            }
        }
        throw MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                "there is no format \"" + name + "\"; there are table, expanded, csv and json");
    }

    private void help() throws IOException {
        StringBuilder text = new StringBuilder();
        HELP.forEach((command, meaning) -> {
            String[] parts = meaning.split("  ", 2);
            String left = parts.length > 1 ? command + " " + parts[0] : command;
            text.append(String.format("  %-26s %s%n", left, parts[parts.length - 1]));
        });
        text.append("\nA statement ends with a semicolon. Ctrl-C stops a statement, Ctrl-D leaves.\n");
        streams.out().write(text.toString());
    }

    private OptionalInt include(String file) throws IOException {
        if (file.isEmpty()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "\\i needs a file");
        }
        boolean flush = shell.mode().flushBeforeSelect();
        try (Reader reader = open(file)) {
            shell.mode(shell.mode().withFlushBeforeSelect(true));
            int code = shell.runScript(reader);
            if (code != 0) {
                throw MillraceException.user(SqlState.DATA_EXCEPTION, "\\i " + file + " stopped at an error");
            }
            return OptionalInt.empty();
        } finally {
            shell.mode(shell.mode().withFlushBeforeSelect(flush));
        }
    }

    /** A file of SQL, in UTF-8. */
    static Reader open(String file) {
        try {
            return Files.newBufferedReader(Path.of(file));
        } catch (InvalidPathException | IOException e) {
            throw MillraceException.external(SqlState.UNDEFINED_FILE, "cannot read file \"" + file + "\"", e);
        }
    }

    // ---- \d --------------------------------------------------------------------------------------------------------

    private void list(Predicate<CatalogObject> wanted) throws IOException {
        List<CatalogObject> objects =
                session.database().catalog().objects().stream().filter(wanted).toList();
        if (objects.isEmpty()) {
            tell("There are none.");
            return;
        }
        AlignedTable table = table("Name", "Kind", "State", "From");
        for (CatalogObject object : objects) {
            String state = session.database()
                    .state(object.name())
                    .map(value -> value.name().toLowerCase(java.util.Locale.ROOT))
                    .orElse("");
            String from = object.input()
                    .map(input -> "connector " + input.connector())
                    .or(() -> session.database().catalog().index(object.name()).map(Index::relation))
                    .orElseGet(() -> String.join(", ", object.reads()));
            table.add(new String[] {
                RelationNames.shown(object.name()), object.kind().sqlName(), state, from
            });
        }
        write(table, objects.size());
    }

    private void listSystem() throws IOException {
        Collection<SystemRelation> relations = session.database().catalog().systemRelations();
        AlignedTable table = table("Name", "Meaning");
        relations.forEach(relation -> table.add(new String[] {relation.name(), relation.meaning()}));
        write(table, relations.size());
    }

    private void describe(String name, boolean all) throws IOException {
        DatabaseCatalog catalog = session.database().catalog();
        Optional<CatalogObject> object = catalog.object(name);
        Optional<SystemRelation> system = catalog.systemRelation(name);
        Schema schema = object.map(CatalogObject::schema)
                .or(() -> system.map(SystemRelation::schema))
                .orElseThrow(() -> DatabaseCatalog.undefined("relation", name, catalog.relationNames()));
        String title = object.map(found -> found.kind().sqlName()).orElse("system relation");
        streams.out()
                .write(title.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + title.substring(1) + " \"" + name
                        + "\"\n");
        TableRules rules = object.map(CatalogObject::rules).orElse(TableRules.NONE);
        Map<String, String> notes = system.map(BackslashCommands::meanings)
                .orElseGet(() -> all && object.isPresent() ? columnNotes(name) : Map.of());
        List<String> titles = new ArrayList<>(List.of("Column", "Type", "Nullable", "Role"));
        if (!rules.columns().isEmpty()) {
            titles.add("Default");
        }
        if (!notes.isEmpty()) {
            titles.add(system.isPresent() ? "Meaning" : "Kept");
        }
        Comments comments = catalog.comments();
        boolean hasComments = comments.about(name).keySet().stream().anyMatch(on -> on.kind() == Commented.Kind.COLUMN);
        if (hasComments) {
            titles.add("Comment");
        }
        AlignedTable table = table(titles.toArray(String[]::new));
        for (int column = 0; column < schema.size(); column++) {
            Field field = schema.field(column);
            int at = column;
            List<String> row = new ArrayList<>(List.of(
                    field.name(),
                    field.type().toString(),
                    field.nullable() ? "" : "not null",
                    object.map(found -> role(found, at)).orElse("")));
            if (!rules.columns().isEmpty()) {
                row.add(rules.of(field.name()).map(BackslashCommands::text).orElse(""));
            }
            if (!notes.isEmpty()) {
                row.add(notes.getOrDefault(field.name(), ""));
            }
            if (hasComments) {
                row.add(comments.on(new Commented(Commented.Kind.COLUMN, name, field.name()))
                        .orElse(""));
            }
            table.add(row.toArray(String[]::new));
        }
        table.write(streams.out());
        if (object.isPresent()) {
            footer("Comment", comments.on(Commented.thing(name)).stream().toList());
            footer(
                    "Checks",
                    rules.checks().stream()
                            .map(check -> check.name() + " (" + check.text() + ")")
                            .toList());
            footer(
                    "Indexes",
                    catalog.indexes(name).stream()
                            .map(index -> index.name() + (index.unique() ? " unique (" : " (")
                                    + index.columnTexts(schema) + ")")
                            .toList());
            new ConnectorLines(session).write(object.get(), all, streams.out());
            if (all) {
                writeNote(name, object.get().kind());
            }
            footer("Backfill", backfills(name));
            footer("Reads", object.get().reads());
            footer("Read by", catalog.dependents(name));
            streams.out()
                    .write("Definition:\n    "
                            + object.get().definition().strip().replace("\n", "\n    ") + ";\n");
        }
        streams.out().write("\n");
    }

    private static Map<String, String> meanings(SystemRelation relation) {
        Map<String, String> meanings = new HashMap<>();
        for (int column = 0; column < relation.columnMeanings().size(); column++) {
            meanings.put(
                    relation.schema().field(column).name(),
                    relation.columnMeanings().get(column));
        }
        return meanings;
    }

    private Map<String, String> columnNotes(String name) {
        Map<String, String> notes = new HashMap<>();
        for (List<Optional<String>> row : ConnectorLines.rows(session, COLUMN_NOTES, name)) {
            row.get(1).ifPresent(note -> notes.put(row.get(0).orElseThrow(), note));
        }
        return notes;
    }

    /** How a stream keeps its rows, or what of a query runs where. */
    private void writeNote(String name, ObjectKind kind) throws IOException {
        for (List<Optional<String>> row : ConnectorLines.rows(session, RELATION_NOTE, name)) {
            if (row.get(0).isPresent()) {
                String label = kind == ObjectKind.STREAM ? "Keeps its rows:" : "Runs:";
                streams.out().write(label + "\n    " + row.get(0).get().replace("\n", "\n    ") + "\n");
            }
        }
    }

    private List<String> backfills(String query) {
        return ConnectorLines.rows(session, BACKFILLS, query).stream()
                .map(row -> row.get(0).orElse("")
                        + row.get(1).map(seconds -> ", " + seconds + " s left").orElse(""))
                .toList();
    }

    private static String text(ColumnRule rule) {
        return switch (rule.kind()) {
            case DEFAULT, UUID, SERIAL -> rule.text();
            case IDENTITY -> "generated by default as identity";
            case IDENTITY_ALWAYS -> "generated always as identity";
            case GENERATED -> "generated always as (" + rule.text() + ") stored";
        };
    }

    private static String role(CatalogObject object, int column) {
        if (object.eventTime().filter(time -> time.column() == column).isPresent()) {
            return "event time";
        }
        return object.primaryKey().contains(column) ? "key" : "";
    }

    private void footer(String label, Collection<String> names) throws IOException {
        if (!names.isEmpty()) {
            streams.out().write(label + ": " + String.join(", ", names) + "\n");
        }
    }

    private static AlignedTable table(String... names) {
        return new AlignedTable(new Schema(java.util.Arrays.stream(names)
                .map(name -> new Field(name, DataType.TEXT, true))
                .toList()));
    }

    private void write(AlignedTable table, int rows) throws IOException {
        table.write(streams.out());
        streams.out().write(rows == 1 ? "(1 row)\n\n" : "(" + rows + " rows)\n\n");
    }
}
