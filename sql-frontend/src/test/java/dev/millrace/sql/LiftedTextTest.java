package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Constants are lifted out of a text where a parameter means the same, and nowhere else. */
class LiftedTextTest {
    private static String values(LiftedText lifted) {
        return String.join(
                ",",
                lifted.parameters().values().orElseThrow().stream()
                        .map(Optional::orElseThrow)
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "SELECT v FROM t WHERE k = 5|SELECT v FROM t WHERE k = $1|5",
                "select v from t where k=5;|select v from t where k=$1;|5",
                "SELECT v FROM t WHERE k = -5 AND n = 'a''b'|SELECT v FROM t WHERE k = $1 AND n = $2|-5,a'b",
                "SELECT v FROM t WHERE k IN (1, 2)|SELECT v FROM t WHERE k IN ($1, $2)|1,2",
                "SELECT v, 7, round(n, 2) FROM t WHERE k = 5|SELECT v, 7, round(n, 2) FROM t WHERE k = $1|5",
                "UPDATE t SET v = v + -7 WHERE k = 5|UPDATE t SET v = v + $1 WHERE k = $2|-7,5",
                "UPDATE t SET v = v - 7, n = 'x' WHERE k = 5|UPDATE t SET v = v - $1, n = $2 WHERE k = $3|7,x,5",
                "INSERT INTO t (a, b) VALUES (1, 'x'), (f(2), 3)|INSERT INTO t (a, b) VALUES ($1, $2), (f(2), $3)|1,x,3",
                "DELETE FROM t WHERE k = 5 RETURNING 1|DELETE FROM t WHERE k = $1 RETURNING 1|5",
                "SELECT E'\\\\n' = v FROM t WHERE k = E'a\\\\tb'|SELECT E'\\\\n' = v FROM t WHERE k = $1|a\\tb",
            })
    void whatComparesOrIsWrittenIsLifted(String sql, String shape, String values) {
        String text = sql.replace("\\\\", "\\");
        LiftedText lifted = LiftedText.of(text).orElseThrow();
        assertEquals(shape.replace("\\\\", "\\"), lifted.shape());
        assertEquals(values.replace("\\t", "\t"), values(lifted));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT 5",
                "SELECT v FROM t ORDER BY 1",
                "SELECT v FROM t LIMIT 5",
                "SELECT v FROM t WHERE d = DATE '2024-01-01'",
                "SELECT v FROM t WHERE k = 5::BIGINT",
                "SELECT v FROM t WHERE k = 5.0",
                "SELECT v FROM t WHERE k = 5 + n",
                "SELECT v FROM t WHERE k = $1 AND n = 5",
                "SELECT v FROM t WHERE k = 5; SELECT 1",
                "SELECT v FROM t WHERE k = 1234567890123456789",
                "SELECT f(5, 'x') FROM t",
                "SELECT k + 5 FROM t",
                "CREATE TABLE t (a INTEGER CHECK (a = 5))",
                "SET x = 5",
                "SELECT v FROM t WHERE k = 'open",
                "",
            })
    void elsewhereAConstantStays(String sql) {
        assertTrue(LiftedText.of(sql).isEmpty(), sql);
    }

    @Test
    void signsBelongToWhatTheySign() {
        assertEquals("5", values(LiftedText.of("UPDATE t SET v = v -5").orElseThrow()));
        assertEquals("-5", values(LiftedText.of("UPDATE t SET v = v - -5").orElseThrow()));
        assertTrue(LiftedText.of("SELECT v FROM t WHERE k = - 'x'").isEmpty());
    }
}
