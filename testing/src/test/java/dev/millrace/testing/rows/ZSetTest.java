package dev.millrace.testing.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

class ZSetTest {
    @Test
    void differencesNameEachSidesRowsWithTheirCounts() {
        ZSet expected = ZSet.of(List.of(Row.of("a", 1L), Row.of("a", 1L), Row.of("b", 2L)));
        ZSet actual = ZSet.of(List.of(Row.of("a", 1L), Row.of("c", 2L)));
        String text = expected.differences(actual);
        assertTrue(text.contains("expected but absent (2 rows):\n  [a, 1]\n  [b, 2]\n"), text);
        assertTrue(text.contains("there but not expected (1 rows):\n  [c, 2]\n"), text);
        assertEquals("", expected.differences(expected.copy()));
    }

    @Test
    void onlyDoublesMayDifferAndOnlyByTheLastDigits() {
        assertTrue(ZSet.nearlyEqual(1e300, 1e300 * (1 + 1e-12)));
        assertTrue(ZSet.nearlyEqual(0.0, 1e-13));
        assertTrue(ZSet.nearlyEqual(List.of(1.0), List.of(1.0 + 1e-12)));
        assertTrue(ZSet.nearlyEqual(new BigDecimal("1.50"), new BigDecimal("1.5")));
        assertFalse(ZSet.nearlyEqual(1.0, 1.000001));
        assertFalse(ZSet.nearlyEqual(new BigDecimal("1.5"), new BigDecimal("1.5000000000001")));
        assertFalse(ZSet.nearlyEqual(1L << 60, (1L << 60) + 1));
        assertFalse(ZSet.nearlyEqual(1.0, null));
    }

    @Test
    void nothingIsNearInfinityButItself() {
        double infinity = Double.POSITIVE_INFINITY;
        assertTrue(ZSet.nearlyEqual(infinity, infinity));
        assertFalse(ZSet.nearlyEqual(infinity, -infinity));
        assertFalse(ZSet.nearlyEqual(infinity, 1.5));
        assertFalse(ZSet.nearlyEqual(Double.NaN, infinity));
        assertTrue(ZSet.nearlyEqual(Double.NaN, Double.NaN));
        ZSet expected = ZSet.of(List.of(Row.of(infinity), Row.of(1.5)));
        assertEquals("", expected.differences(ZSet.of(List.of(Row.of(1.5), Row.of(infinity)))));
        assertFalse(
                expected.differences(ZSet.of(List.of(Row.of(1.5), Row.of(2.5)))).isEmpty());
    }
}
