package dev.millrace.planner.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class JoinSizesTest {
    @Test
    void equalColumnsLetPassAsTheRicherHasValues() {
        Graphs graphs =
                new Graphs().factor(1000, 100).factor(500, 20).equal(0, 0, 1, 0).done();
        assertEquals(5000, graphs.sizes().of(0b11), 1e-6);
    }

    @Test
    void aClassOfThreeCountsEachConditionOnce() {
        Graphs graphs = new Graphs().factor(100, 100).factor(100, 100).factor(100, 100);
        graphs.equal(0, 0, 1, 0).equal(1, 0, 2, 0).equal(0, 0, 2, 0).done();
        assertEquals(100, graphs.sizes().of(0b111), 1e-6);
        assertEquals(100, graphs.sizes().of(0b101), 1e-6);
    }

    @Test
    void nothingIsFewerThanOneRow() {
        Graphs graphs = new Graphs()
                .factor(0, 1)
                .factor(3, 3)
                .less(0, 1)
                .equal(0, 1, 1, 1)
                .done();
        assertTrue(graphs.sizes().of(0b11) >= 1);
        assertTrue(graphs.sizes().ofMember(0) >= 1);
    }

    @Test
    void productsBeyondAllNumbersAreNumbersAndKeepTheirOrder() {
        Graphs graphs = new Graphs();
        for (int i = 0; i < 40; i++) {
            graphs.factor(Long.MAX_VALUE, i < 20 ? 1 : 1e18);
        }
        for (int i = 1; i < 40; i++) {
            graphs.equal(i, 0, i - 1, 1);
        }
        JoinSizes sizes = graphs.done().sizes();
        double before = 0;
        for (int member = 0; member < 20; member++) {
            double size = sizes.of((1L << member + 1) - 1);
            assertTrue(Double.isFinite(size) && size >= before, member + ": " + size);
            before = size;
        }
        // what conditions leave of a product beyond all numbers is what they leave of any
        long keyed = (1L << 40) - (1L << 20);
        double size = sizes.of(keyed);
        assertTrue(size > 1e18 && size < 1e45, "some rows for each of another: " + size);
    }

    @Test
    void moreConditionsNeverMeanMoreRows() {
        for (int seed = 0; seed < 50; seed++) {
            Random random = new Random(seed);
            Graphs some = new Graphs();
            Graphs more = new Graphs();
            for (int i = 0; i < 4; i++) {
                long rows = 1 + random.nextInt(10_000);
                double distinct = 1 + random.nextInt((int) rows);
                some.factor(rows, distinct);
                more.factor(rows, distinct);
            }
            some.equal(0, 0, 1, 0).equal(2, 0, 3, 0).done();
            more.equal(0, 0, 1, 0)
                    .equal(2, 0, 3, 0)
                    .equal(1, 1, 2, 1)
                    .less(0, 3)
                    .done();
            for (long members = 1; members < 16; members++) {
                assertTrue(more.sizes().of(members) <= some.sizes().of(members) * 1.000001, "seed " + seed);
            }
        }
    }

    @Test
    void aReducerLeavesAFraction() {
        Graphs graphs = new Graphs().factor(1000, 100).reducer(50, 10, 0, 0).done();
        double left = graphs.sizes().of(0b11);
        assertTrue(left < 1000 && left >= 1, "left: " + left);
    }
}
