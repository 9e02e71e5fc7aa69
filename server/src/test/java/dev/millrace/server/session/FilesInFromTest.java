package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that a statement names where a relation may stand: what is found, what is read of it, and what is said where it cannot be. */
class FilesInFromTest {
    private static final int GOOD = 300_000; // more than a sample has

    @TempDir
    Path folder;

    private final TestDatabase database = new TestDatabase(2);

    @BeforeEach
    void write() throws IOException {
        file("people.csv", "id;name;born\n1;x;01.02.2020\n2;y;13.02.2020\n3;z;14.02.2020\n");
        file("a.csv", "id,v\n1,10\n2,20\n");
        file("b.csv", "id,w\n3,30\n");
        file("one.csv", "v\n1\n2\n");
        file("rows.ndjson", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\",\"c\":{\"d\":1}}\n");
    }

    @AfterEach
    void close() {
        database.close();
    }

    private void file(String name, String text) throws IOException {
        Files.writeString(folder.resolve(name), text);
    }

    /** Many good rows and, behind what is sampled of them, some that are none. */
    private void dirty() throws IOException {
        file(
                "dirty.csv",
                IntStream.range(0, GOOD)
                        .mapToObj(i -> i + "," + i % 1000 + ",2020-01-01 00:00:00\n")
                        .collect(Collectors.joining(
                                "",
                                "id,v,at\n",
                                "x,1,2020-01-01 00:00:00\n7,y,2020-01-01 00:00:00\n8\n9,9,2020-01-01 00:00:00\n")));
    }

    private String at(String sql) {
        return sql.replace("{}", folder.toString());
    }

    private List<String> rows(String sql) {
        return database.rows(at(sql)).stream()
                .map(row -> row.replace(folder.toString(), "{}"))
                .toList();
    }

    private String error(String sql) {
        return database.error(at(sql)).replace(folder.toString(), "{}");
    }

    @Test
    void theyStandWhereARelationDoes() {
        assertEquals(List.of("1|x|2020-02-01", "2|y|2020-02-13", "3|z|2020-02-14"), rows("FROM '{}/people.csv'"));
        assertEquals(
                List.of("z"), rows("SELECT people.name FROM '{}/people.csv' WHERE id > 1 AND born > '2020-02-13'"));
        assertEquals(
                List.of("1|1", "2|2"),
                rows("SELECT t.v, one.v FROM '{}/one.csv' AS t JOIN '{}/one.csv' ON t.v = one.v"));
        assertEquals(List.of("1", "2"), rows("SELECT t.n FROM read_csv('{}/one.csv') AS t(n)"));
        assertEquals(
                List.of("1|3", "2|3"),
                rows("WITH q AS (SELECT * FROM '{}/a.csv') SELECT q.id, (SELECT max(id) FROM '{}/people.csv') FROM q"
                        + " WHERE EXISTS (SELECT 1 FROM '{}/people.csv' p WHERE p.id = q.id)"));
        assertEquals(
                List.of("x", "y"),
                rows("SELECT (SELECT name FROM '{}/people.csv' p WHERE p.id = a.id) FROM '{}/a.csv' a"));
        assertEquals(
                List.of("1", "2", "3", "4"),
                rows("WITH RECURSIVE r AS (SELECT id FROM '{}/a.csv' WHERE id = 1 UNION ALL SELECT r.id + 1 FROM r JOIN"
                        + " '{}/people.csv' p ON p.id = r.id) SELECT * FROM r"));
        assertEquals(
                List.of("2020-02-01 00:00:00|1", "2020-02-13 00:00:00|2"),
                rows(
                        "SELECT window_start, count(*) FROM TUMBLE((SELECT born::timestamp AS at FROM '{}/people.csv'), DESCRIPTOR(at),"
                                + " INTERVAL '2 days', INTERVAL '1 day') GROUP BY window_start, window_end"));
        assertEquals(
                List.of("1", "2", "3"),
                rows(
                        "SELECT id FROM TUMBLE(read_csv('{}/people.csv', types = {'born': 'timestamp'}, dateformat = 'DD.MM.YYYY', timestampformat ="
                                + " 'DD.MM.YYYY'), DESCRIPTOR(born), INTERVAL '1 day')"));
        assertEquals(
                "INSERT 0 2",
                database.run(at("CREATE TABLE t (id BIGINT, v INT); INSERT INTO t SELECT * FROM '{}/a.csv'")));
        database.run(
                at(
                        "UPDATE t SET v = (SELECT w FROM '{}/b.csv') WHERE id IN (SELECT id FROM '{}/people.csv' WHERE name = 'x')"));
        database.run(at("DELETE FROM t USING '{}/people.csv' p WHERE p.id = t.id AND p.name = 'y'"));
        assertEquals(List.of("1|30"), rows("SELECT * FROM t"));
        database.run(at("CREATE TABLE u AS SELECT * FROM read_csv('{}/[ab].csv')"));
        assertEquals(List.of("1|10|", "2|20|", "3||30"), rows("SELECT * FROM u"));
        database.run(at("BEGIN; DECLARE c CURSOR FOR SELECT * FROM '{}/a.csv' ORDER BY id"));
        assertEquals(List.of("1|10"), rows("FETCH FROM c"));
        assertEquals(List.of("3"), rows("SELECT count(*) FROM '{}/people.csv'"));
        assertEquals(List.of("2|20"), rows("FETCH FROM c"));
        database.run("COMMIT");
        assertEquals(List.of("id|bigint|yes|", "v|bigint|yes|"), rows("DESCRIBE '{}/a.csv'"));
        assertEquals(List.of("n|bigint|no|"), rows("DESCRIBE SELECT count(*) AS n FROM '{}/a.csv'"));
    }

    @Test
    void optionsAreDuckDbsAndThoseOfStreams() throws IOException {
        assertEquals(
                List.of("1|10||{}/a.csv|2", "2|20||{}/a.csv|3", "3||30|{}/b.csv|2"),
                rows("SELECT * FROM read_csv('{}/[ab].csv', filename = true, line => true, union_by_name = true)"));
        assertEquals(
                List.of("1||2020-02-01", "2|y|2020-02-13", "3|z|2020-02-14"),
                rows(
                        "SELECT * FROM read_csv_auto(['{}/people.csv'], dateformat = '%d.%m.%Y', sep = ';', nullstr = ['x', 'q'],"
                                + " sample_size = -1)"));
        assertEquals(
                List.of("1|10", "2|20", "id|v"), rows("FROM read_csv('{}/a.csv', all_varchar = true, header = false)"));
        assertEquals(List.of("1|10.00", "2|20.00"), rows("FROM read_csv('{}/a.csv', types = {'v': 'numeric(10,2)'})"));
        assertEquals(
                List.of("10|1", "20|2"),
                rows("FROM read_csv('{}/a.csv', columns = {'v': 'VARCHAR', 'id': 'INTEGER'})"));
        assertEquals(List.of("1", "2"), rows("SELECT * FROM read_json('{}/rows.ndjson', columns = {'a': 'text'})"));
        assertEquals(List.of("x|", "y|{\"d\": 1}"), rows("SELECT b, c FROM '{}/rows.ndjson'"));
        assertEquals(
                List.of("2"),
                rows("SELECT count(*) FROM read_ndjson_auto('{}/rows.ndjson', format = 'newline_delimited')"));
        file("a, b [1].csv", "x\n5\n"); // one file, whose name is no pattern
        assertEquals(List.of("5"), rows("FROM '{}/a, b [1].csv'"));
        String unknown = error("FROM read_csv('{}/a.csv', delimm = ';')");
        assertTrue(
                unknown.startsWith(
                        "22023 option \"delimm\" of read_csv does not exist | did you mean \"delim\"? there are:"
                                + " all_varchar, auto_detect, columns, comment,"),
                unknown);
        assertEquals(
                "22023 option \"delim\" of read_parquet does not exist | there are: compression, filename, line, modified, order",
                error("FROM read_parquet('{}/a.parquet', delim = ';')"));
        assertEquals(
                "22023 option \"delimiter\" is given by two names",
                error("FROM read_csv('{}/a.csv', delim = ';', sep = ';')"));
        assertEquals(
                "22023 option \"header\" cannot be \"perhaps\"; it must be true or false",
                error("FROM read_csv('{}/a.csv', header = 'perhaps')"));
        assertEquals(
                "42703 column \"w\" of option \"types\" does not exist | did you mean \"v\"?",
                error("FROM read_csv('{}/a.csv', types = {'w': 'int'})"));
        assertEquals("42704 type \"nix\" does not exist", error("FROM read_csv('{}/a.csv', types = {'v': 'nix'})"));
        assertEquals(
                "22023 option \"dateformat\" cannot be \"%Q\"; it must be of %Y %y %m %d %b %B %H %I %M %S %f %g %p, or such as"
                        + " DD/MM/YYYY HH24:MI:SS",
                error("FROM read_csv('{}/a.csv', dateformat = '%Q')"));
        assertEquals(
                "0A000 a parameter in the place of the files of read_csv is not available yet | columns are known when a statement"
                        + " is prepared, and so the files must be",
                error("PREPARE p AS SELECT * FROM read_csv($1)"));
    }

    @Test
    void whatIsNotThereOrIsNoFileOfTheKindIsSaid() throws IOException {
        file("empty.csv", "");
        file("header.csv", "a,b\r\n");
        file("mark.csv", "\ufeffa,b\r\n1,x\r\n");
        file("half.parquet", "PAR1abc");
        file("text.json", "no json\n");
        Files.createDirectory(folder.resolve("dir.csv"));
        assertEquals(
                "42P16 columns cannot be guessed: file \"{}/empty.csv\" has no records | declare the columns",
                error("FROM '{}/empty.csv'"));
        assertEquals(List.of("0"), rows("SELECT count(a) FROM read_csv('{}/empty.csv', columns = {'a': 'int'})"));
        assertEquals(List.of(), rows("SELECT b FROM '{}/header.csv'"));
        assertEquals(List.of("1|x"), rows("SELECT a, b FROM '{}/mark.csv'"));
        assertEquals(
                "58P01 could not open file \"{}/nope.csv\" for reading: no such file or directory",
                error("FROM '{}/nope.csv'"));
        assertEquals("58P01 no file matches \"{}/no*.csv\"", error("FROM '{}/no*.csv'"));
        assertEquals(
                "42809 \"{}/dir.csv\" is a directory | name the files in it, such as '{}/dir.csv/*.csv'",
                error("FROM '{}/dir.csv'"));
        assertEquals(
                "22P04 file \"{}/half.parquet\" is no Parquet file, or a damaged one: it has 7 bytes",
                error("FROM '{}/half.parquet'"));
        assertTrue(error("FROM '{}/text.json'").startsWith("42P16 columns cannot be guessed"));
        assertEquals(
                "42P01 'people' in FROM is a file, but its name does not say of which format | a relation's name is in double"
                        + " quotes; read_csv('people') reads a file of any name, and read_json, read_parquet do",
                error("FROM 'people'"));
        assertEquals("42883 function read_xls in FROM does not exist", error("FROM read_xls('a')"));
        assertEquals("42883 read_csv takes the path of a file, or an array of such", error("FROM read_csv()"));
    }

    @Test
    void valuesThatAreNoneFailTheStatementUnlessItSaysOtherwise() throws IOException {
        dirty();
        String of = "read_csv('{}/dirty.csv', types = {'id': 'bigint', 'v': 'bigint'}, null_padding = false%s)";
        String strict = of.formatted("");
        String failure = error("SELECT sum(v) FROM " + strict);
        assertTrue(
                failure.startsWith("22") && failure.contains("{}/dirty.csv:" + (GOOD + 3) + ", column \"v\""), failure);
        assertTrue(error("SELECT count(*) FROM " + strict).contains("dirty.csv:" + (GOOD + 4)), "too few fields");
        assertEquals(List.of(), warnings());
        String left = "SELECT %s FROM " + of.formatted(", ignore_errors = true");
        assertEquals(List.of(GOOD + 1 + ""), rows(left.formatted("count(*)")));
        assertEquals(List.of(GOOD + 1 + ""), rows(left.formatted("count(v)"))); // the same rows, whatever is read
        assertEquals(List.of("9", "9"), rows(left.formatted("id") + " WHERE id = 9 AND v = 9"));
        assertEquals(3, warnings().size());
        for (String warning : warnings()) {
            assertTrue(warning.startsWith("WARNING: 3 records were left out of read_csv('{}/dirty.csv',"), warning);
            assertTrue(warning.contains("; {}/dirty.csv:" + (GOOD + 2) + ", column \"id\": "), warning);
        }
    }

    private List<String> warnings() {
        return database.notices().stream()
                .filter(notice -> notice.startsWith("WARNING"))
                .map(notice -> notice.replace(folder.toString(), "{}"))
                .toList();
    }

    @Test
    void onlyWhatIsReadIsDecoded() throws IOException {
        file("wide.csv", "id,v,w\n" + "1,2,3\n".repeat(50) + "4,x,6\n");
        file("wide.ndjson", "{\"id\":1,\"v\":2}\n".repeat(50) + "{\"id\":4,\"v\":\"x\"}\n");
        for (String of : new String[] {
            "read_csv('{}/wide.csv', types = {'v': 'bigint'})", "read_json('{}/wide.ndjson', types = {'v': 'bigint'})"
        }) {
            assertEquals(List.of("54"), rows("SELECT sum(id) FROM " + of));
            assertEquals(List.of("51"), rows("SELECT count(*) FROM " + of));
            assertTrue(error("SELECT sum(v) FROM " + of).contains(":5"), of);
            assertTrue(error("SELECT id FROM " + of + " WHERE v = 2").contains(":5"), of);
        }
        assertEquals(
                List.of(
                        "  Scan read_csv('{}/wide.csv', header => 'true', types => {'v': 'bigint'}): id, w hint id > 1",
                        "Calc w where id > 1"),
                rows("EXPLAIN (PHYSICAL) SELECT w FROM read_csv('{}/wide.csv', types = {'v': 'bigint'}) WHERE id > 1"));
        assertTrue(rows("EXPLAIN ANALYZE SELECT w FROM '{}/a.csv' JOIN '{}/b.csv' USING (id)").stream()
                .anyMatch(line -> line.contains("own read_csv('{}/a.csv'")));
    }

    @Test
    void whatIsKeptNamesAStream() {
        for (String kept : new String[] {
            "CREATE VIEW k AS ",
            "CREATE TEMP VIEW k AS ",
            "CREATE MATERIALIZED VIEW k AS ",
            "CREATE CONTINUOUS QUERY k AS ",
            "CREATE STREAM k AS ",
            "SUBSCRIBE "
        }) {
            String refused = error(kept + "SELECT id FROM read_csv('{}/people.csv', delim = ';')");
            assertTrue(refused.startsWith("0A000 files in FROM are read once, and a"), refused);
            assertTrue(
                    refused.contains(
                            "| CREATE STREAM s WITH (connector = 'file', path = '{}/people.csv', delimiter = ';'), and"
                                    + " read s; mode = 'follow' goes on when the files grow"),
                    refused);
        }
        assertTrue(error("CREATE FUNCTION f() RETURNS BIGINT LANGUAGE sql AS $$ SELECT count(*) FROM '{}/a.csv' $$")
                .startsWith("0A000 files in FROM are read once, and a function is kept"));
        database.run(at("CREATE STREAM s WITH (connector = 'file', path = '{}/people.csv', delimiter = ';')"));
        assertEquals(rows("FROM '{}/people.csv'"), rows("FROM s"));
    }

    @Test
    void aStatementSeesFilesAsTheyAreWhenItBegins() throws IOException {
        database.run(at("PREPARE p AS SELECT * FROM '{}/a.csv' WHERE id = $1"));
        assertEquals(List.of("2|20"), rows("EXECUTE p(2)"));
        file("a.csv", "id,v,more\n2,x,y\n");
        assertEquals(List.of("2|x|y"), rows("EXECUTE p(2)"));
        assertEquals(List.of("2|x|y"), rows("SELECT * FROM '{}/a.csv' WHERE id = 2"));
        file("a.csv", "id;v\n2;3\n");
        assertEquals(List.of("2|3"), rows("SELECT * FROM '{}/a.csv' WHERE id = 2"));
        Files.delete(folder.resolve("a.csv"));
        assertTrue(error("SELECT * FROM '{}/a.csv' WHERE id = 2").startsWith("58P01"));
        file("doubtful.csv", "d,v\n01/02/2020,1\n02/02/2020,2\n03/01/2020,3\n");
        rows("SELECT * FROM '{}/doubtful.csv' a JOIN '{}/doubtful.csv' b USING (d)");
        assertEquals(1, database.notices().size(), () -> "told once: " + database.notices());
    }

    @Test
    void manyFilesOfDifferentHeadersAreOneRelation() throws IOException {
        for (int i = 0; i < 300; i++) {
            file(
                    "run" + i + ".csv",
                    (i % 3 == 0 ? "v,k\n" + i + ",a\n" : i % 3 == 1 ? "k,v,x\nb," + i + ",1\n" : "v\n" + i + "\n"));
        }
        assertEquals(
                List.of("300|44850|200|100"), rows("SELECT count(*), sum(v), count(k), sum(x) FROM '{}/run*.csv'"));
        assertEquals(
                List.of("{}/run7.csv|7"),
                rows("SELECT filename, v FROM read_csv('{}/run*.csv', filename = true) WHERE v = 7"));
    }

    @Test
    void aStatementIsStoppedAndNothingIsLeft() throws IOException {
        file(
                "numbers.csv",
                IntStream.range(0, 100_000).mapToObj(i -> i + "\n").collect(Collectors.joining("", "n\n", "")));
        database.run("SET statement_timeout = '300ms'");
        String slow = "SELECT count(*) FROM '{}/numbers.csv' a JOIN '{}/numbers.csv' b ON a.n < b.n";
        assertEquals(SqlState.QUERY_CANCELED, database.failure(at(slow)).sqlState());
        database.run("SET statement_timeout = 0");
        assertEquals(List.of("100000"), rows("SELECT count(*) FROM '{}/numbers.csv'"));
    }

    @Test
    void copyReadsAndWritesFilesOfTheServer() throws IOException {
        database.run("CREATE TABLE t (id BIGINT PRIMARY KEY, v TEXT)");
        assertEquals("COPY 2", database.run(at("COPY t FROM '{}/a.csv' WITH (FORMAT csv, HEADER)")));
        assertTrue(error("COPY t FROM '{}/a.csv' WITH (FORMAT csv, HEADER)").startsWith("23505"));
        assertTrue(error("COPY t FROM '{}/nope.csv'").startsWith("58P01"));
        assertEquals(
                "COPY 2", database.run(at("COPY (SELECT * FROM t ORDER BY id) TO '{}/out.csv' (FORMAT csv, HEADER)")));
        assertEquals("id,v\n1,10\n2,20\n", Files.readString(folder.resolve("out.csv")));
        assertTrue(error("COPY (SELECT 1 / (id - 2) FROM t) TO '{}/out.csv'").startsWith("22012"));
        assertEquals("id,v\n1,10\n2,20\n", Files.readString(folder.resolve("out.csv")), "it stays as it was");
        assertFalse(Files.exists(folder.resolve("out.csv.part")));
        assertEquals(
                "COPY 2", database.run(at("COPY (SELECT id, v FROM '{}/out.csv') TO '{}/out.bin' (FORMAT binary)")));
        database.run(at("CREATE TABLE u (id BIGINT, v BIGINT); COPY u FROM '{}/out.bin' (FORMAT binary)"));
        assertEquals(rows("SELECT * FROM t"), rows("SELECT * FROM u"));
        assertTrue(error("COPY t TO '{}'").startsWith("42809"));
        assertTrue(error("COPY t TO '{}/no/where.csv'").startsWith("58P01"));
        assertTrue(error("COPY (SUBSCRIBE SELECT * FROM t) TO '{}/x'").startsWith("0A000"));
    }
}
