package dev.millrace.server.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.history.HistoryVerification;
import dev.millrace.server.script.DefinitionScript;
import dev.millrace.server.script.DefinitionScript.Definition;
import dev.millrace.server.script.DefinitionScript.Step;
import dev.millrace.server.storage.CatalogVerification;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.sql.text.Lexeme;
import dev.millrace.sql.text.Lexer;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What a data directory has, without opening a database on it: that would read its sources and write to its sinks. For one thread.
 */
public final class DirectoryDump {
    /** Those that rows need: a table or stream, and what its columns are computed by. */
    private static final Set<String> WITH_ROWS = Set.of("schema", "table", "function");

    /** Not those that a connector or a query feeds: a database that has them would read them anew, and their rows come again wherever they are made. */
    private static boolean mayHaveRows(KeptObject object) {
        return !isOfFeeds(object.name(), object.kind(), object.sql()) && WITH_ROWS.contains(object.kind())
                || object.kind().equals("stream")
                        && !DefinitionScript.isDerived(object.kind(), object.sql())
                        && object.sql().toLowerCase(Locale.ROOT).contains("retention");
    }

    /** Whether a table is fed by a connector, or has the positions of those. */
    public static boolean isOfFeeds(String name, String kind, String sql) {
        if (!kind.equals("table")) {
            return false;
        }
        List<Lexeme> lexemes = Lexer.tokens(sql);
        boolean isFed = false;
        for (int i = 0; i + 1 < lexemes.size(); i++) {
            isFed |= lexemes.get(i).isWord("connector") && lexemes.get(i + 1).isSymbol("=");
        }
        return isFed || name.equals(Feeds.POSITIONS);
    }

    private DirectoryDump() {}

    /**
     * Statements that make its definitions again. Reads only.
     *
     * @throws MillraceException F0001 if a database has it open, XX001 if its definitions are damaged, 58030 where it cannot be read
     */
    public static List<Step> script(Path directory) {
        KeptCatalog catalog = read(directory);
        List<Definition> objects = catalog.objects().stream()
                .map(object -> new Definition(
                        object.name(),
                        object.kind(),
                        object.sql(),
                        object.owner(),
                        object.paused().isPresent(),
                        DefinitionScript.namesIn(object.sql()),
                        object.jar().map(DefinitionScript::jarNote).orElse(""),
                        object.numeric()))
                .toList();
        List<Step> steps = new ArrayList<>(DefinitionScript.of(
                catalog.access().roles(),
                catalog.settings(),
                objects,
                catalog.access().grants()));
        steps.addAll(DefinitionScript.comments(
                catalog.comments(), name -> catalog.object(name).map(KeptObject::kind)));
        HistoryVerification.subscriptions(directory.resolve(DataDirectory.CHANGES))
                .forEach((query, subscriptions) -> subscriptions.forEach(each ->
                        steps.add(DefinitionScript.subscription(each.name(), each.owner(), query, each.limitBytes()))));
        return steps;
    }

    private static KeptCatalog read(Path directory) {
        try {
            CatalogVerification.Findings found = CatalogVerification.run(directory);
            if (found.user().isPresent()) {
                throw MillraceException.user(
                                SqlState.LOCK_FILE_EXISTS,
                                "the data directory " + directory + " is in use by process "
                                        + found.user().get())
                        .withHint("ask the server itself: its address instead of the directory");
            }
            return found.catalog()
                    .orElseThrow(() -> MillraceException.external(
                            SqlState.DATA_CORRUPTED,
                            found.files().stream()
                                    .filter(file -> !file.isWhole())
                                    .map(FileReport::damage)
                                    .findFirst()
                                    .map(damage -> damage.get(0))
                                    .orElse(directory + " has no definitions")));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + directory, e);
        }
    }

    /**
     * Makes a directory in which only the tables are, and the streams that keep rows, for a database to be opened on.
     *
     * @param to an empty directory
     * @throws MillraceException as {@link #script}; 53100 or 58030 where it cannot be written
     */
    public static void copyTables(Path from, Path to) {
        read(from);
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Path name = from.relativize(file);
                boolean isAtTop = name.getNameCount() == 1 && Files.isRegularFile(file);
                if (!isAtTop && !file.equals(from)) {
                    Files.copy(file, to.resolve(name));
                }
            }
        } catch (IOException e) {
            throw DiskErrors.failed("copy " + from + " to " + to, e);
        }
        DataDirectory.copyDefinitions(from, to, DirectoryDump::mayHaveRows);
    }
}
