package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/postgres-commands.md has every command of PostgreSQL 15, says what becomes of it, and none is a syntax error. */
class PostgresCommandsTest {
    private static final Path PAGE = Path.of("../docs/postgres-commands.md");

    /** The commands of PostgreSQL 15, in the order of its reference. */
    private static final List<String> COMMANDS =
            List.of("""
            ABORT, ALTER AGGREGATE, ALTER COLLATION, ALTER CONVERSION, ALTER DATABASE, ALTER DEFAULT PRIVILEGES, ALTER
            DOMAIN, ALTER EVENT TRIGGER, ALTER EXTENSION, ALTER FOREIGN DATA WRAPPER, ALTER FOREIGN TABLE, ALTER FUNCTION,
            ALTER GROUP, ALTER INDEX, ALTER LANGUAGE, ALTER LARGE OBJECT, ALTER MATERIALIZED VIEW, ALTER OPERATOR, ALTER
            OPERATOR CLASS, ALTER OPERATOR FAMILY, ALTER POLICY, ALTER PROCEDURE, ALTER PUBLICATION, ALTER ROLE, ALTER
            ROUTINE, ALTER RULE, ALTER SCHEMA, ALTER SEQUENCE, ALTER SERVER, ALTER STATISTICS, ALTER SUBSCRIPTION, ALTER
            SYSTEM, ALTER TABLE, ALTER TABLESPACE, ALTER TEXT SEARCH CONFIGURATION, ALTER TEXT SEARCH DICTIONARY, ALTER
            TEXT SEARCH PARSER, ALTER TEXT SEARCH TEMPLATE, ALTER TRIGGER, ALTER TYPE, ALTER USER, ALTER USER MAPPING,
            ALTER VIEW, ANALYZE, BEGIN, CALL, CHECKPOINT, CLOSE, CLUSTER, COMMENT, COMMIT, COMMIT PREPARED, COPY, CREATE
            ACCESS METHOD, CREATE AGGREGATE, CREATE CAST, CREATE COLLATION, CREATE CONVERSION, CREATE DATABASE, CREATE
            DOMAIN, CREATE EVENT TRIGGER, CREATE EXTENSION, CREATE FOREIGN DATA WRAPPER, CREATE FOREIGN TABLE, CREATE
            FUNCTION, CREATE GROUP, CREATE INDEX, CREATE LANGUAGE, CREATE MATERIALIZED VIEW, CREATE OPERATOR, CREATE
            OPERATOR CLASS, CREATE OPERATOR FAMILY, CREATE POLICY, CREATE PROCEDURE, CREATE PUBLICATION, CREATE ROLE,
            CREATE RULE, CREATE SCHEMA, CREATE SEQUENCE, CREATE SERVER, CREATE STATISTICS, CREATE SUBSCRIPTION, CREATE
            TABLE, CREATE TABLE AS, CREATE TABLESPACE, CREATE TEXT SEARCH CONFIGURATION, CREATE TEXT SEARCH DICTIONARY,
            CREATE TEXT SEARCH PARSER, CREATE TEXT SEARCH TEMPLATE, CREATE TRANSFORM, CREATE TRIGGER, CREATE TYPE, CREATE
            USER, CREATE USER MAPPING, CREATE VIEW, DEALLOCATE, DECLARE, DELETE, DISCARD, DO, DROP ACCESS METHOD, DROP
            AGGREGATE, DROP CAST, DROP COLLATION, DROP CONVERSION, DROP DATABASE, DROP DOMAIN, DROP EVENT TRIGGER, DROP
            EXTENSION, DROP FOREIGN DATA WRAPPER, DROP FOREIGN TABLE, DROP FUNCTION, DROP GROUP, DROP INDEX, DROP
            LANGUAGE, DROP MATERIALIZED VIEW, DROP OPERATOR, DROP OPERATOR CLASS, DROP OPERATOR FAMILY, DROP OWNED, DROP
            POLICY, DROP PROCEDURE, DROP PUBLICATION, DROP ROLE, DROP ROUTINE, DROP RULE, DROP SCHEMA, DROP SEQUENCE, DROP
            SERVER, DROP STATISTICS, DROP SUBSCRIPTION, DROP TABLE, DROP TABLESPACE, DROP TEXT SEARCH CONFIGURATION, DROP
            TEXT SEARCH DICTIONARY, DROP TEXT SEARCH PARSER, DROP TEXT SEARCH TEMPLATE, DROP TRANSFORM, DROP TRIGGER, DROP
            TYPE, DROP USER, DROP USER MAPPING, DROP VIEW, END, EXECUTE, EXPLAIN, FETCH, GRANT, IMPORT FOREIGN SCHEMA,
            INSERT, LISTEN, LOAD, LOCK, MERGE, MOVE, NOTIFY, PREPARE, PREPARE TRANSACTION, REASSIGN OWNED, REFRESH
            MATERIALIZED VIEW, REINDEX, RELEASE SAVEPOINT, RESET, REVOKE, ROLLBACK, ROLLBACK PREPARED, ROLLBACK TO
            SAVEPOINT, SAVEPOINT, SECURITY LABEL, SELECT, SELECT INTO, SET, SET CONSTRAINTS, SET ROLE, SET SESSION
            AUTHORIZATION, SET TRANSACTION, SHOW, START TRANSACTION, TRUNCATE, UNLISTEN, UPDATE, VACUUM, VALUES""".replace("\n", " ").strip().split(", "));

    @Test
    void eachCommandOfPostgresIsThere() throws IOException {
        List<String> headings = Files.readAllLines(PAGE).stream()
                .filter(line -> line.startsWith("### "))
                .map(line -> line.substring(4))
                .toList();
        assertEquals(COMMANDS, headings);
    }

    @Test
    void eachStatementWorksOrSaysWhatDoesAndNoneIsASyntaxError() throws IOException {
        try (TestDatabase database = new TestDatabase()) {
            new AnsweredPage(PAGE).check(database);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            CREATE AGREGATE a(int) (SFUNC = f)            | 8
            CREATE TYPE                                   | 12
            DROP TRIGGER                                  | 13
            CALL                                          | 5
            ALTER TABLE orders ENABEL ROW LEVEL SECURITY  | 20
            ALTER SUBSCRIPTION s ACKNOWLEGE '2020-01-01'  | 22
            SELECT * FROM orders FOR UPDTE                | 22
            CREATE TABLE t (a INT) PARTITIN BY RANGE (a)  | 24
            COMMENT ON TABLE orders AS 'x'                | 25
            GRANT SELECT ON TIPE colour TO PUBLIC         | 17
            VACUUM orders items                           | 15
            SELECT * FROM ONLY                            | 19
            """)
    void aTypingErrorIsStillASyntaxErrorAtItsPlace(String sql, int position) {
        try (TestDatabase database = new TestDatabase()) {
            MillraceException error = assertThrows(MillraceException.class, () -> database.run(sql));
            assertEquals(SqlState.SYNTAX_ERROR, error.sqlState(), error::getMessage);
            assertEquals(position, error.position().orElse(0), error::getMessage);
        }
    }
}
