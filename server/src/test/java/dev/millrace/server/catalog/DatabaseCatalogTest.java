package dev.millrace.server.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DatabaseCatalogTest {
    private static final Schema SCHEMA = Schema.of(new Field("n", DataType.BIGINT, true));

    private final DatabaseCatalog catalog = new DatabaseCatalog();

    private void add(ObjectKind kind, String name, String... reads) {
        catalog.add(new CatalogObject(
                name,
                kind,
                SCHEMA,
                true,
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Set.of(reads),
                Map.of(),
                "CREATE ...",
                0,
                TableRules.NONE));
    }

    @Test
    void dependentsComeBeforeWhatTheyReadInTheOrderOfDrop() {
        add(ObjectKind.STREAM, "s");
        add(ObjectKind.MATERIALIZED_VIEW, "a", "s");
        add(ObjectKind.MATERIALIZED_VIEW, "b", "s", "a");
        add(ObjectKind.SINK, "c", "b");
        assertEquals(List.of("c", "b", "a", "s"), catalog.withDependents("s"));
        assertEquals(Set.of("a", "b"), catalog.dependents("s"));
        catalog.remove("c");
        assertEquals(List.of("b", "a", "s"), catalog.withDependents("s"));
    }

    @Test
    void sinksHaveNamesButNoRows() {
        add(ObjectKind.SINK, "out");
        assertEquals(Optional.empty(), catalog.relation("out"));
        assertEquals("out", catalog.require(ObjectKind.SINK, "out").name());
        MillraceException error =
                assertThrows(MillraceException.class, () -> catalog.require(ObjectKind.STREAM, "out"));
        assertEquals("\"out\" is a sink, not a stream", error.getMessage());
    }

    @Test
    void everyChangeIsANewVersion() {
        long before = catalog.version();
        add(ObjectKind.STREAM, "s");
        long added = catalog.version();
        catalog.remove("s");
        assertEquals(true, before < added && added < catalog.version());
    }
}
