package dev.millrace.server.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.type.Field;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/**
 * Keeps docs/relations.md as the relations of {@code millrace} are: what is behind its first heading of a relation is written by
 * {@code -Dmillrace.golden.update=true}. The same is what psql's {@code \d+} and the shell's {@code \d} say of them.
 */
class RelationDocumentTest {
    private static final Path PAGE = Path.of("../docs/relations.md");
    private static final String HEADING = "## millrace.";

    @Test
    void everyColumnIsDescribed() throws IOException {
        List<String> lines = Files.readAllLines(PAGE);
        List<String> wanted = new ArrayList<>(
                lines.stream().takeWhile(line -> !line.startsWith(HEADING)).toList());
        try (TestDatabase database = new TestDatabase()) {
            for (SystemRelation relation : database.database().catalog().systemRelations()) {
                if (relation.name().startsWith("millrace.")) {
                    describe(relation, wanted);
                }
            }
            assertEquals(
                    List.of("counters of streams, and of tables that connectors feed", "what it reads"),
                    database.rows("SELECT obj_description('millrace.stream_stats'::regclass) UNION ALL"
                            + " SELECT col_description('millrace.stream_stats'::regclass, 2)"));
            assertEquals(
                    List.of("", ""), // NULL
                    database.rows("SELECT col_description('millrace.stream_stats'::regclass, 5) UNION ALL"
                            + " SELECT col_description('pg_catalog.pg_class'::regclass, 1)"));
        }
        if (Boolean.getBoolean("millrace.golden.update")) {
            Files.write(PAGE, wanted);
        } else {
            assertEquals(String.join("\n", wanted), String.join("\n", lines), "-Dmillrace.golden.update=true helps");
        }
    }

    private static void describe(SystemRelation relation, List<String> page) {
        assertEquals(relation.schema().size(), relation.columnMeanings().size(), relation.name());
        page.add("## " + relation.name());
        page.add("");
        page.add(relation.meaning().substring(0, 1).toUpperCase(Locale.ROOT)
                + relation.meaning().substring(1) + ".");
        page.add("");
        page.add("| column | type | |");
        page.add("| --- | --- | --- |");
        for (int column = 0; column < relation.schema().size(); column++) {
            Field field = relation.schema().field(column);
            page.add("| `" + field.name() + "` | " + field.type().toString().toLowerCase(Locale.ROOT) + " | "
                    + relation.columnMeanings().get(column) + " |");
        }
        page.add("");
    }
}
