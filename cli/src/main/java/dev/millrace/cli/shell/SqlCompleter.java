package dev.millrace.cli.shell;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.sql.text.Keywords;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jline.builtins.Completers.FileNameCompleter;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;

/** Completes words of the language, names of relations, columns of the relations in the text, and backslash commands. */
final class SqlCompleter implements Completer {
    private static final Set<String> BEFORE_RELATIONS = Set.of(
            "from", "join", "into", "to", "table", "describe", "update", "\\d", "view", "query", "stream", "sink");

    private final DatabaseCatalog catalog;

    SqlCompleter(DatabaseCatalog catalog) {
        this.catalog = catalog;
    }

    @Override
    public void complete(LineReader reader, ParsedLine line, List<Candidate> candidates) {
        String word = line.word();
        if (line.line().stripLeading().startsWith("\\i ")) {
            new FileNameCompleter().complete(reader, line, candidates);
            return;
        }
        if (word.startsWith("\\")) {
            BackslashCommands.HELP.forEach(
                    (command, meaning) -> candidates.add(candidate(command, "commands", meaning)));
            return;
        }
        boolean relationExpected = line.wordIndex() > 0
                && BEFORE_RELATIONS.contains(
                        line.words().get(line.wordIndex() - 1).toLowerCase(Locale.ROOT));
        addRelations(candidates);
        if (!relationExpected) {
            addColumns(line.line().toLowerCase(Locale.ROOT), candidates);
            addKeywords(line, candidates);
        }
    }

    private void addRelations(List<Candidate> candidates) {
        for (CatalogObject object : catalog.objects()) {
            candidates.add(candidate(
                    RelationNames.quoted(object.name()),
                    "relations",
                    object.kind().sqlName()));
        }
        for (SystemRelation relation : catalog.systemRelations()) {
            candidates.add(candidate(relation.name(), "relations", relation.meaning()));
        }
    }

    private void addColumns(String text, List<Candidate> candidates) {
        for (CatalogObject object : catalog.objects()) {
            if (text.contains(object.name())) {
                object.schema()
                        .fields()
                        .forEach(field -> candidates.add(candidate(
                                Identifiers.quote(field.name()), "columns", object.name() + ": " + field.type())));
            }
        }
    }

    private static void addKeywords(ParsedLine line, List<Candidate> candidates) {
        boolean first = line.words().subList(0, line.wordIndex()).stream().allMatch(String::isBlank);
        boolean upper =
                line.word().isEmpty() || Character.isUpperCase(line.word().charAt(0));
        for (String keyword : first ? Keywords.STATEMENTS : Keywords.all()) {
            String text = upper ? keyword.toUpperCase(Locale.ROOT) : keyword;
            candidates.add(candidate(text, "words", ""));
        }
    }

    private static Candidate candidate(String text, String group, String meaning) {
        return new Candidate(text, text, group, meaning.isEmpty() ? null : meaning, null, null, true);
    }
}
