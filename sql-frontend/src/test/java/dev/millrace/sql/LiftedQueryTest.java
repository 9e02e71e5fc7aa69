package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What definitions of queries have in common, and where they differ. */
class LiftedQueryTest {
    private static String values(LiftedQuery lifted) {
        return lifted.query().parameters().values().orElseThrow().stream()
                .map(Optional::orElseThrow)
                .collect(Collectors.joining(","));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "a FROM s WHERE k = 5|a FROM s WHERE k = $1|5|[integer]",
                "a FROM s WHERE k = -5.25 AND d = 'x''y';|a FROM s WHERE k = $1 AND d = $2|-5.25,x'y|[numeric(3,2), unknown]",
                "a FROM s WHERE k BETWEEN -1 AND -2 AND b > 3|a FROM s WHERE k BETWEEN $1 AND $2 AND b > $3|-1,-2,3|[integer, integer, integer]",
                "a FROM s WHERE k BETWEEN b AND 2|||",
                "a FROM s WHERE k BETWEEN 1 AND b|a FROM s WHERE k BETWEEN $1 AND b|1|[integer]",
                "'r' AS r, 7 AS n, a FROM s WHERE k > 3000000000|$1 AS r, $2 AS n, a FROM s WHERE k > $3|r,7,3000000000|[unknown, integer, bigint]",
                "a FROM s WHERE k IN (1, 2) AND b = 4|a FROM s WHERE k IN (1, 2) AND b = $1|4|[integer]",
                "a FROM s WHERE k > 1 + 2 AND k > 1::INT AND k > 1e3|||",
                "round(a, 2) AS a, f(7) FROM s WHERE a LIKE 'b%'|||",
                "a FROM s, (SELECT 5 AS five) t WHERE k > 1|a FROM s, (SELECT 5 AS five) t WHERE k > $1|1|[integer]",
            })
    void whatIsComparedOrShownIsLifted(String select, String shape, String values, String types) {
        Optional<LiftedQuery> lifted = LiftedQuery.of("CREATE CONTINUOUS QUERY q AS SELECT " + select);
        assertEquals(
                Optional.ofNullable(shape).map("SELECT "::concat),
                lifted.map(query -> query.query().shape()));
        assertEquals(Optional.ofNullable(values), lifted.map(LiftedQueryTest::values));
        assertEquals(
                Optional.ofNullable(types),
                lifted.map(query -> query.query().parameters().declaredTypes().toString()));
    }

    @Test
    void itsTextIsThatOfTheParsedStatement() {
        String sql = "create continuous query \"Q 1\" as /* all */ SELECT a FROM s\nWHERE k > .5 -- more\n ; -- end";
        LiftedQuery lifted = LiftedQuery.of(sql).orElseThrow();
        assertEquals("Q 1", lifted.name());
        assertEquals(new Frontend().parse(sql).get(0).text(), lifted.text());
        assertEquals("SELECT a FROM s\nWHERE k > $1", lifted.query().shape());
    }

    @Test
    void viewsAreReadLikeQueries() {
        LiftedQuery view = LiftedQuery.of("CREATE MATERIALIZED VIEW v AS SELECT a FROM s WHERE k = 5")
                .orElseThrow();
        assertEquals(ObjectKind.MATERIALIZED_VIEW, view.kind());
        assertEquals("v", view.name());
        assertEquals("SELECT a FROM s WHERE k = $1", view.query().shape());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "CREATE CONTINUOUS QUERY IF NOT EXISTS q AS SELECT a FROM s WHERE k = 5",
                "CREATE OR REPLACE CONTINUOUS QUERY q AS SELECT a FROM s WHERE k = 5",
                "CREATE CONTINUOUS QUERY q WITH (priority = '1') AS SELECT a FROM s WHERE k = 5",
                "CREATE CONTINUOUS QUERY q (b) AS SELECT a FROM s WHERE k = 5",
                "CREATE CONTINUOUS QUERY public.q AS SELECT a FROM s WHERE k = 5",
                "CREATE CONTINUOUS QUERY select AS SELECT a FROM s WHERE k = 5",
                "CREATE CONTINUOUS QUERY q AS WITH s AS (SELECT 1) SELECT a FROM s WHERE k = 5",
                "CREATE CONTINUOUS QUERY q AS SELECT a FROM s WHERE k = $1 AND a = 5",
                "CREATE CONTINUOUS QUERY q AS SELECT a FROM s WHERE k = 5; SELECT 1",
                "CREATE CONTINUOUS QUERY q AS SELECT a FROM s WHERE k = 'open",
                "CREATE CONTINUOUS QUERY q AS",
                "CREATE CONTINUOUS QUERY",
                "CREATE",
                "CREATE MATERIALIZED QUERY q AS SELECT a FROM s WHERE k = 5",
                "CREATE VIEW q AS SELECT a FROM s WHERE k = 5",
                "SELECT a FROM s WHERE k = 5"
            })
    void othersAreReadByTheGrammarAlone(String sql) {
        assertTrue(LiftedQuery.of(sql).isEmpty());
    }
}
