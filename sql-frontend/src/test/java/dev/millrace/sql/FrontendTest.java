package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.core.Filter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FrontendTest {
    private final Frontend frontend = new Frontend();

    private Statement analyze(String sql) {
        return frontend.analyze(frontend.parse(sql).get(0), new TestCatalog(), Parameters.none());
    }

    private MillraceException failure(String sql) {
        return assertThrows(MillraceException.class, () -> analyze(sql));
    }

    @Test
    void aTextIsCutIntoStatementsWithTheirOwnTextAndPlace() {
        String sql = "-- first\n SELECT 1 ; ;\n/* second */ FLUSH -- done\n;";
        List<ParsedStatement> statements = frontend.parse(sql);
        assertEquals(
                List.of("SELECT 1", "FLUSH"),
                statements.stream().map(ParsedStatement::text).toList());
        assertEquals(sql.indexOf("FLUSH"), statements.get(1).offset());
        assertEquals(List.of(), frontend.parse(" -- nothing\n"));
    }

    @Test
    void positionsCountInTheWholeText() {
        String sql = "SELECT 1;\nSELECT tmp FROM readings";
        ParsedStatement second = frontend.parse(sql).get(1);
        MillraceException error = assertThrows(
                MillraceException.class, () -> frontend.analyze(second, new TestCatalog(), Parameters.none()));
        assertEquals(sql.indexOf("tmp") + 1, error.position().orElseThrow());
    }

    @Test
    void parametersGetTheirTypesFromTheirContext() {
        String sql = "SELECT $1::int + k, $2 FROM readings WHERE device = $3 AND temp > $4 AND ts < $6 LIMIT $5";
        ParsedStatement statement = frontend.parse(sql).get(0);
        assertEquals(6, statement.parameterCount());
        assertEquals(
                List.of(
                        DataType.INTEGER,
                        DataType.TEXT,
                        DataType.TEXT,
                        DataType.DOUBLE,
                        DataType.BIGINT,
                        DataType.TIMESTAMPTZ),
                frontend.describe(statement, new TestCatalog(), List.of()).parameterTypes());
    }

    @Test
    void aDeclaredParameterTypeIsKept() {
        ParsedStatement statement =
                frontend.parse("SELECT k FROM readings WHERE k = $1").get(0);
        List<DataType> types = frontend.describe(statement, new TestCatalog(), List.of(DataType.BIGINT))
                .parameterTypes();
        assertEquals(List.of(DataType.BIGINT), types);
    }

    @Test
    void anOpenParameterTypeIsAnError() {
        ParsedStatement statement = frontend.parse("SELECT k FROM readings WHERE $1 IS NULL OR $3 = 1")
                .get(0);
        MillraceException error =
                assertThrows(MillraceException.class, () -> frontend.describe(statement, new TestCatalog(), List.of()));
        assertEquals(SqlState.INDETERMINATE_DATATYPE, error.sqlState());
        assertEquals("could not determine data type of parameter $2", error.getMessage());
    }

    @Test
    void parameterValuesBecomeConstants() {
        ParsedStatement statement = frontend.parse("SELECT k FROM readings WHERE ts > $1 AND k = $2")
                .get(0);
        Parameters values = Parameters.of(List.of(), List.of(Optional.of("2020-01-01"), Optional.empty()));
        Statement.Select select =
                assertInstanceOf(Statement.Select.class, frontend.analyze(statement, new TestCatalog(), values));
        Filter filter = (Filter) select.query().rel().getInput(0);
        assertEquals(
                "AND(>($1, 2020-01-01 00:00:00), =($3, null))",
                filter.getCondition().toString());
    }

    @Test
    void aMissingParameterValueIsAnError() {
        MillraceException error = failure("SELECT $1");
        assertEquals(SqlState.UNDEFINED_PARAMETER, error.sqlState());
        assertEquals("there is no parameter $0", failure("SELECT $0").getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "stream",
                "sink",
                "value",
                "count",
                "watermark",
                "year",
                "timestamp",
                "date",
                "time",
                "interval",
                "rows",
                "range",
                "row",
                "over",
                "filter",
                "partition",
                "first",
                "last",
                "next",
                "current",
                "position",
                "substring",
                "trim",
                "extract",
                "values",
                "set",
                "query",
                "view",
                "materialized",
                "continuous",
                "language",
                "escape",
                "at",
                "zone",
                "session",
                "tumble",
                "descriptor",
                "window_start",
                "first_value",
                "sum",
                "exists",
                "grouping",
                "sets",
                "cube",
                "rollup",
                "system",
                "nulls",
                "of",
                "recursive",
                "data",
                "key",
                "primary_key",
                "subscribe",
                "snapshot",
                "begin",
                "show",
                "double",
                "precision",
                "text",
                "left_"
            })
    void hardlyAWordIsReserved(String word) {
        Statement.CreateTable table =
                (Statement.CreateTable) analyze("CREATE TABLE " + word + " (" + word + " int, b int)");
        assertEquals(word, table.columns().get(0).name());
        Statement.Select select = (Statement.Select) analyze(
                "SELECT x.%1$s, %1$s FROM (SELECT k AS %1$s FROM readings) AS x WHERE %1$s > 1 AND 1 < %1$s ORDER BY %1$s DESC, x.%1$s"
                        .formatted(word));
        assertEquals(List.of(word, word), select.query().schema().names());
    }

    @Test
    void columnsWithoutANameAreNamedAsInPostgreSql() {
        Statement.Select select =
                (Statement.Select) analyze("SELECT (ARRAY[1, 2])[1], (ARRAY[1, 2])[1:1], ('{1}'::int[])[1],"
                        + " (SELECT a FROM (VALUES (ARRAY[3])) AS t (a))[1], ('{\"b\": 1}'::jsonb)['b'],"
                        + " (ROW(1, 2)::ROW(x INT, y INT)).y, 'c'::char(3), '1'::float, '1'::dec");
        assertEquals(
                List.of("array", "array", "int4", "a", "jsonb", "y", "bpchar", "float8", "numeric"),
                select.query().schema().names());
    }

    @Test
    void emitIsReserved() {
        assertEquals(SqlState.SYNTAX_ERROR, failure("CREATE TABLE emit (a int)").sqlState());
    }

    @Test
    void theEmitClauseIsKept() {
        Statement.CreateContinuousQuery query = (Statement.CreateContinuousQuery)
                analyze("CREATE CONTINUOUS QUERY q AS SELECT k FROM readings EMIT EVERY INTERVAL '1.5' SECOND");
        assertEquals(new Emit.Every(1_500_000), query.query().emit());
        assertEquals("SELECT k FROM readings EMIT EVERY INTERVAL '1.5' SECOND", query.queryText());
        assertEquals(Set.of("readings"), query.query().relations());
        assertEquals(
                "the period must be greater than zero",
                failure("CREATE CONTINUOUS QUERY q AS SELECT k FROM readings EMIT EVERY '0 s'")
                        .getMessage());
    }

    @Test
    void deepNestingIsAnErrorAndNotACrash() {
        String sql = "SELECT " + "(".repeat(20_000) + "1" + ")".repeat(20_000);
        assertEquals(SqlState.STATEMENT_TOO_COMPLEX, failure(sql).sqlState());
    }

    @Test
    void longListsAreNoProblem() {
        StringBuilder sql = new StringBuilder("SELECT k FROM readings WHERE k IN (0");
        for (int i = 1; i < 5_000; i++) {
            sql.append(", ").append(i);
        }
        assertInstanceOf(Statement.Select.class, analyze(sql.append(')').toString()));
    }

    @Test
    void manyThreadsAnalyseAtOnce() throws Exception {
        String sql = "SELECT device, count(*), avg(temp) FROM tumble(readings, ts, interval '1 minute') "
                + "WHERE device LIKE 'a%' GROUP BY device, window_start, window_end";
        String expected = plan(sql);
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<String>> plans = threads.invokeAll(Collections.nCopies(200, () -> plan(sql)));
            for (Future<String> plan : plans) {
                assertEquals(expected, plan.get());
            }
        } finally {
            threads.shutdown();
        }
    }

    private String plan(String sql) {
        return RelOptUtil.toString(((Statement.Select) analyze(sql)).query().rel());
    }

    @Test
    void warmingUpNeedsNoRelations() {
        frontend.warmUp();
    }

    @Test
    void everyTypeHasACalciteTypeAndBack() {
        List<DataType> types = List.of(
                DataType.BOOLEAN,
                DataType.SMALLINT,
                DataType.INTEGER,
                DataType.BIGINT,
                DataType.REAL,
                DataType.DOUBLE,
                DataType.numeric(38, 38),
                DataType.numeric(5, 0),
                DataType.TEXT,
                DataType.varchar(0),
                DataType.varchar(7),
                DataType.character(3),
                DataType.BYTEA,
                DataType.DATE,
                DataType.TIME,
                DataType.TIMESTAMP,
                DataType.TIMESTAMPTZ,
                DataType.INTERVAL,
                DataType.UUID,
                DataType.JSONB,
                DataType.NULL,
                DataType.array(DataType.array(DataType.TEXT)),
                DataType.row(
                        List.of(new Field("a", DataType.TIMESTAMPTZ, true), new Field("b", DataType.INTEGER, true))));
        for (DataType type : types) {
            assertEquals(type, TypeMapper.dataType(TypeMapper.relType(type, true)));
            assertTrue(TypeMapper.relType(type, true).isNullable());
            assertFalse(type.kind() != DataType.Kind.NULL
                    && TypeMapper.relType(type, false).isNullable());
        }
    }
}
