package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arrays, rows and JSONB come from JSON lines and from CSV. */
class NestedSourcesTest {
    private static final String COLUMNS =
            "(id INT, tags TEXT[], at ROW(x DOUBLE PRECISION, y DOUBLE PRECISION), doc JSONB)";

    @TempDir
    private Path folder;

    private final TestDatabase database = new TestDatabase();

    @AfterEach
    void close() {
        database.close();
    }

    private void stream(String name, String format, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name + "." + format), text);
        database.run("CREATE STREAM " + name + " " + COLUMNS + " WITH (connector = 'file', path = '" + file
                + "', format = '" + format + "', on_error = 'dead_letter')");
    }

    @Test
    void jsonObjectsArraysAndValuesBecomeRowsArraysAndJsonb() throws IOException {
        stream("j", "json", """
                {"id": 1, "tags": ["a", null, "b c"], "at": {"y": 2, "x": 1.5, "z": 9}, "doc": {"b":1,"a":[true]}}
                {"id": 2, "tags": [], "at": null, "doc": "text"}
                {"id": 3, "doc": null}
                {"id": 4, "tags": {"no": "array"}}
                """);
        assertEquals(
                List.of("1|{a,NULL,\"b c\"}|(1.5,2)|{\"a\": [true], \"b\": 1}", "2|{}||\"text\"", "3|||"),
                database.flushedRows("SELECT * FROM j"));
        assertEquals(
                List.of("1|true|1.5|3"),
                database.flushedRows(
                        "SELECT id, doc -> 'a' ->> 0, (at).x, cardinality(tags) FROM j WHERE doc @> '{\"b\": 1}'"));
        assertEquals(List.of("1"), database.flushedRows("SELECT count(*) FROM millrace.rejected_rows"));
    }

    @Test
    void theirTextIsReadFromCsv() throws IOException {
        stream("c", "csv", """
                id,tags,at,doc
                1,"{a,NULL,""b c""}","(1.5,2)","{""b"":1,""a"":[true]}"
                2,{},,"[1,2]"
                3,,,
                4,x,,
                """);
        assertEquals(
                List.of("1|{a,NULL,\"b c\"}|(1.5,2)|{\"a\": [true], \"b\": 1}", "2|{}||[1, 2]", "3|||"),
                database.flushedRows("SELECT * FROM c"));
        assertEquals(
                List.of("1|2"),
                database.flushedRows(
                        "SELECT e, doc ->> 1 FROM c, jsonb_array_elements(doc) AS t(e) WHERE id = 2 AND e = '1'"));
    }
}
