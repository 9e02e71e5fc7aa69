package dev.millrace.planner.window;

import static dev.millrace.planner.tree.Fixture.and;
import static dev.millrace.planner.tree.Fixture.at;
import static dev.millrace.planner.tree.Fixture.bid;
import static dev.millrace.planner.tree.Fixture.call;
import static dev.millrace.planner.tree.Fixture.column;
import static dev.millrace.planner.tree.Fixture.count;
import static dev.millrace.planner.tree.Fixture.filter;
import static dev.millrace.planner.tree.Fixture.group;
import static dev.millrace.planner.tree.Fixture.hop;
import static dev.millrace.planner.tree.Fixture.max;
import static dev.millrace.planner.tree.Fixture.number;
import static dev.millrace.planner.tree.Fixture.right;
import static dev.millrace.planner.tree.Fixture.seconds;
import static dev.millrace.planner.tree.Fixture.standing;
import static dev.millrace.planner.tree.Fixture.test;
import static dev.millrace.planner.tree.Fixture.text;
import static dev.millrace.planner.tree.Fixture.tumble;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.simplify.Simplification;
import dev.millrace.planner.tree.Fixture;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** NEXMark's queries 5 and 7 lose their joins; everything that only looks like them keeps it. */
class JoinWithOwnExtremeTest {
    private static final Simplification SIMPLIFICATION = new Simplification(UnaryOperator.identity());

    private static String planned(PlanNode plan) {
        return text(SIMPLIFICATION.apply(WindowRecognition.apply(SIMPLIFICATION.apply(plan), standing(), false)));
    }

    private static void keepsItsJoin(PlanNode plan) {
        String text = planned(plan);
        assertTrue(text.contains("Join INNER") && !text.contains("WindowExtreme"), text);
    }

    private static void losesItsJoin(PlanNode plan) {
        String text = planned(plan);
        assertTrue(!text.contains("Join INNER") && text.contains("WindowExtreme"), text);
    }

    // ---- query 7: rows and the extreme of the window they lie in ---------------------------------------------------

    private static final PlanNode BID = bid();

    private static PlanNode highest(PlanNode rows) {
        PlanNode windows = tumble(rows, 10);
        return group(windows, List.of("window_start", "window_end"), max(windows, "price"));
    }

    private static Expression samePrice(PlanNode extreme) {
        return test("eq", column(BID, "price"), right(BID, extreme, "max_price"));
    }

    private static Expression from(PlanNode extreme, long size) {
        Expression end = right(BID, extreme, "window_end");
        return test("ge", column(BID, "datetime"), call("subtract", DataType.TIMESTAMP, end, seconds(size)));
    }

    private static Expression to(PlanNode extreme, String comparison) {
        return test(comparison, column(BID, "datetime"), right(BID, extreme, "window_end"));
    }

    @Test
    void theRowsOfTheWindowsHighestPrice() {
        PlanNode extreme = highest(bid());
        PlanNode join = Nodes.join(
                BID,
                extreme,
                JoinKind.INNER,
                at(BID, new String[] {"price"}),
                at(extreme, new String[] {"max_price"}),
                Optional.of(and(from(extreme, 10), to(extreme, "le"))),
                Optional.empty());
        assertEquals("""
                Calc auction, bidder, price, channel, datetime, window_start, window_end, price [append-only]
                  WindowExtreme max of price in TUMBLE 10 s on datetime, compared at the window's very end too [append-only; state: the best rows of open windows]
                    Watermark datetime - 4 s, no row is late [append-only]
                      Scan bid: auction, bidder, price, channel, datetime [append-only]
                """, planned(join));
    }

    @Test
    void nobodyWaitsForAnEndThatRowsAreComparedAfter() {
        PlanNode extreme = highest(bid());
        for (String comparison : List.of("lt", "le")) {
            PlanNode best = join(extreme, samePrice(extreme), from(extreme, 10), to(extreme, comparison));
            String text = planned(group(best, List.of("window_end"), count()));
            assertEquals(comparison.equals("lt"), text.contains("WindowAggregate the rows' windows"), text);
        }
    }

    private static PlanNode join(PlanNode extreme, Expression... conjuncts) {
        return Fixture.join(JoinKind.INNER, BID, extreme, and(conjuncts));
    }

    @Test
    void anOpenEndWillDoAndTheWindowsStart() {
        PlanNode extreme = highest(bid());
        Expression fromStart = test("le", right(BID, extreme, "window_start"), column(BID, "datetime"));
        PlanNode open = join(extreme, samePrice(extreme), fromStart, to(extreme, "lt"));
        losesItsJoin(open);
        assertTrue(!planned(open).contains("very end"));
    }

    @Test
    void anotherSizeThanTheWindowsIsAnotherQuestion() {
        PlanNode extreme = highest(bid());
        keepsItsJoin(join(extreme, samePrice(extreme), from(extreme, 20), to(extreme, "le")));
    }

    @Test
    void aRowAtTheVeryEndMayExceedTheWindowsHighestPrice() {
        PlanNode extreme = highest(bid());
        Expression atLeast = test("ge", column(BID, "price"), right(BID, extreme, "max_price"));
        keepsItsJoin(join(extreme, atLeast, from(extreme, 10), to(extreme, "le")));
        losesItsJoin(join(extreme, atLeast, from(extreme, 10), to(extreme, "lt")));
    }

    @Test
    void bothBoundsAreNeeded() {
        PlanNode extreme = highest(bid());
        keepsItsJoin(join(extreme, samePrice(extreme), to(extreme, "le")));
        keepsItsJoin(join(extreme, samePrice(extreme), from(extreme, 10)));
    }

    @Test
    void aHighestPriceOfOtherRowsIsNotTheirOwn() {
        PlanNode extreme = highest(filter(bid(), test("gt", column(BID, "price"), number(5))));
        keepsItsJoin(join(extreme, samePrice(extreme), from(extreme, 10), to(extreme, "lt")));
    }

    @Test
    void theSameFilterOnBothSidesAndMoreOnTheRowsIsFine() {
        Expression dear = test("gt", column(BID, "price"), number(5));
        Expression ours = test("eq", column(BID, "auction"), number(1));
        PlanNode extreme = highest(filter(bid(), dear));
        PlanNode plan = Fixture.join(
                JoinKind.INNER,
                filter(bid(), and(dear, ours)),
                extreme,
                and(samePrice(extreme), from(extreme, 10), to(extreme, "lt")));
        assertEquals("""
                Calc auction, bidder, price, channel, datetime, window_start, window_end, price where auction = 1 [append-only]
                  WindowExtreme max of price in TUMBLE 10 s on datetime [append-only; state: the best rows of open windows]
                    Calc auction, bidder, price, channel, datetime where price > 5 [append-only]
                      Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, bidder, price, channel, datetime [append-only]
                """, planned(plan));
    }

    @Test
    void anotherColumnThanTheExtremesDoesNot() {
        PlanNode extreme = highest(bid());
        Expression other = test("eq", column(BID, "auction"), right(BID, extreme, "max_price"));
        keepsItsJoin(join(extreme, other, from(extreme, 10), to(extreme, "lt")));
        Expression below = test("le", column(BID, "price"), right(BID, extreme, "max_price"));
        keepsItsJoin(join(extreme, below, from(extreme, 10), to(extreme, "lt")));
    }

    @Test
    void keysOfTheExtremeMustBeTheRowsOwn() {
        PlanNode windows = tumble(bid(), 10);
        PlanNode extreme = group(windows, List.of("channel", "window_end"), max(windows, "price"));
        Expression sameChannel = test("eq", column(BID, "channel"), right(BID, extreme, "channel"));
        Expression[] inWindow = {samePrice(extreme), from(extreme, 10), to(extreme, "lt")};
        keepsItsJoin(join(extreme, inWindow));
        String text = planned(join(extreme, inWindow[0], inWindow[1], inWindow[2], sameChannel));
        assertTrue(text.contains("in TUMBLE 10 s on datetime by channel"), text);
        assertTrue(text.contains("where channel IS NOT NULL"), text);
    }

    // ---- query 5: rows that carry windows --------------------------------------------------------------------------

    private static PlanNode counts(long size) {
        return group(hop(bid(), 2, size), List.of("auction", "window_start", "window_end"), count());
    }

    private static PlanNode hottest(PlanNode counts, String... keys) {
        return group(counts, List.of(keys), max(counts, "count"));
    }

    private static PlanNode q5(PlanNode counts, PlanNode hottest, String comparison, String... windowColumns) {
        Expression[] conjuncts = new Expression[windowColumns.length + 1];
        for (int i = 0; i < windowColumns.length; i++) {
            conjuncts[i] = test("eq", column(counts, windowColumns[i]), right(counts, hottest, windowColumns[i]));
        }
        conjuncts[windowColumns.length] =
                test(comparison, column(counts, "count"), right(counts, hottest, "max_count"));
        return Fixture.join(JoinKind.INNER, counts, hottest, and(conjuncts));
    }

    @Test
    void theHottestItemsOfEachWindow() {
        PlanNode plan =
                q5(counts(10), hottest(counts(10), "window_start", "window_end"), "ge", "window_start", "window_end");
        assertEquals("""
                Calc auction, window_start, window_end, count, window_start$3, window_end$4, count [append-only]
                  WindowExtreme max of count in the rows' windows (window_start, window_end) [append-only; state: the best rows of open windows]
                    WindowAggregate HOP 10 s every 2 s on datetime by auction: count(*) [append-only; state: one row per auction and slice of 2 s, until it closes]
                      Calc auction, datetime [append-only]
                        Watermark datetime - 4 s, no row is late [append-only]
                          Scan bid: auction, bidder, price, channel, datetime [append-only]
                """.lines().skip(1).toList(), planned(plan).lines().skip(1).toList());
    }

    @Test
    void sessionsOfAPullQueryAreToldApartByTheirStartToo() {
        PlanNode counts =
                group(Fixture.session(bid(), "auction", 10), List.of("auction", "window_start", "window_end"), count());
        PlanNode plan = q5(counts, hottest(counts, "window_start", "window_end"), "ge", "window_start", "window_end");
        Inference finite = new Inference(Fixture::facts, true);
        String text = text(WindowRecognition.apply(SIMPLIFICATION.apply(plan), finite, false));
        assertTrue(text.contains("in the rows' windows (window_start, window_end) by window_start"), text);
    }

    @Test
    void aSessionIsNotCompleteAtItsEndSoNobodyWaitsForThat() {
        PlanNode counts =
                group(Fixture.session(bid(), "auction", 10), List.of("auction", "window_start", "window_end"), count());
        keepsItsJoin(q5(counts, hottest(counts, "window_start", "window_end"), "ge", "window_start", "window_end"));
        assertTrue(planned(hottest(counts, "window_start", "window_end")).contains("Aggregate by window_start"));
    }

    @Test
    void oneBoundIdentifiesAHoppingWindow() {
        losesItsJoin(q5(counts(10), hottest(counts(10), "window_end"), "eq", "window_end"));
        losesItsJoin(q5(counts(10), hottest(counts(10), "window_start", "window_end"), "ge", "window_start"));
    }

    @Test
    void withoutTheWindowItIsAnotherQuestion() {
        PlanNode counts = counts(10);
        keepsItsJoin(q5(counts, hottest(counts, "window_start", "window_end"), "ge"));
    }

    @Test
    void windowsOfAnotherSizeAreOtherRows() {
        keepsItsJoin(q5(counts(10), hottest(counts(20), "window_start", "window_end"), "ge", "window_start"));
    }

    @Test
    void lessThanTheGreatestIsAnotherQuestion() {
        PlanNode counts = counts(10);
        keepsItsJoin(q5(counts, hottest(counts, "window_start", "window_end"), "gt", "window_start", "window_end"));
        keepsItsJoin(q5(counts, hottest(counts, "window_start", "window_end"), "le", "window_start", "window_end"));
    }
}
