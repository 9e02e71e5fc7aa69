package dev.millrace.planner.window;

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
import static dev.millrace.planner.tree.Fixture.plain;
import static dev.millrace.planner.tree.Fixture.project;
import static dev.millrace.planner.tree.Fixture.session;
import static dev.millrace.planner.tree.Fixture.standing;
import static dev.millrace.planner.tree.Fixture.test;
import static dev.millrace.planner.tree.Fixture.text;
import static dev.millrace.planner.tree.Fixture.tumble;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.planner.fact.Inference;
import dev.millrace.planner.tree.Fixture;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Which aggregations, ranks and joins may wait for a window's end, and which must not. */
class WindowRecognitionTest {
    private static PlanNode recognized(PlanNode plan) {
        return WindowRecognition.apply(plan, standing(), false);
    }

    private static void becomes(PlanNode before, String after) {
        assertEquals(after, text(recognized(before)));
    }

    private static void stays(PlanNode plan) {
        assertEquals(text(plan), text(recognized(plan)));
    }

    private static final PlanNode TUMBLED = tumble(bid(), 10);

    @Test
    void groupingByAWindowWaitsForItsEnd() {
        becomes(group(TUMBLED, List.of("window_start", "auction"), count(), max(TUMBLED, "price")), """
                Calc window_start, auction, count, max_price [append-only]
                  WindowAggregate TUMBLE 10 s on datetime by auction: count(*), max(price) [append-only; state: one row per auction and window, until it closes]
                    Calc auction, price, datetime [append-only]
                      Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void conditionsOnTheWindowAreHeldAfterIt() {
        Expression late = test("gt", column(TUMBLED, "window_end"), column(TUMBLED, "window_start"));
        becomes(group(filter(TUMBLED, late), List.of("window_end"), count()), """
                Calc window_end, count where window_end > window_start [append-only]
                  WindowAggregate TUMBLE 10 s on datetime: count(*) [append-only; state: one row per window, until it closes]
                    Calc datetime [append-only]
                      Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void groupingThatSpansWindowsDoesNotWait() {
        stays(group(TUMBLED, List.of("auction"), count()));
    }

    @Test
    void withoutAWatermarkNothingWaits() {
        PlanNode windows = tumble(plain(), 10);
        stays(group(windows, List.of("window_start"), count()));
    }

    @Test
    void aPullQueryWaitsForTheEndOfItsInput() {
        PlanNode windows = tumble(plain(), 10);
        PlanNode plan = group(windows, List.of("window_start"), count());
        Inference finite = new Inference(Fixture::facts, true);
        assertTrue(text(WindowRecognition.apply(plan, finite, false)).contains("WindowAggregate TUMBLE 10 s"));
    }

    @Test
    void rowsThatMayBeRetractedDoNotWait() {
        PlanNode latest = group(bid(), List.of("auction", "datetime"), max(bid(), "price"));
        stays(group(tumble(latest, 10), List.of("window_start"), count()));
    }

    @Test
    void theStartOfACumulatingWindowIsNotEnough() {
        PlanNode windows = Nodes.windowAssign(bid(), 4, new WindowSpec.Cumulate(1_000_000, 10_000_000));
        stays(group(windows, List.of("window_start"), count()));
        assertTrue(
                text(recognized(group(windows, List.of("window_end"), count()))).contains("CUMULATE 10 s by 1 s on"));
    }

    @Test
    void anArgumentOfTheWindowIsAggregatedFromRowsThatCarryIt() {
        PlanNode late = Nodes.project(
                TUMBLED,
                List.of(
                        column(TUMBLED, "window_end"),
                        call(
                                "subtract",
                                DataType.INTERVAL,
                                column(TUMBLED, "window_end"),
                                column(TUMBLED, "datetime"))));
        PlanNode plan = Nodes.aggregate(
                late,
                List.of(0),
                List.of(Fixture.aggregate(Function.MAX, DataType.INTERVAL, List.of(1))),
                PlanNode.Phase.SINGLE,
                false);
        String text = text(recognized(plan));
        assertTrue(text.contains("WindowAggregate the rows' windows"), text);
        assertTrue(text.contains("WindowAssign TUMBLE 10 s"), text);
    }

    // ---- sessions --------------------------------------------------------------------------------------------------

    private static final PlanNode SESSIONS = session(bid(), "bidder", 10);

    @Test
    void groupingBySessionAndPartitionWaitsForItsEnd() {
        becomes(group(SESSIONS, List.of("bidder", "window_start", "window_end"), count()), """
                Calc bidder, window_start, window_end, count [append-only]
                  WindowAggregate SESSION gap 10 s on datetime by bidder: count(*) [append-only; state: one row per bidder and session, until it closes]
                    Calc bidder, datetime [append-only]
                      Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void aFilteredRowStillHoldsItsSessionTogether() {
        PlanNode cheap = filter(SESSIONS, test("lt", column(SESSIONS, "price"), number(5)));
        becomes(group(cheap, List.of("bidder", "window_end"), count()), """
                Calc bidder, window_end, count$1 where count$2 > 0 [append-only]
                  WindowAggregate SESSION gap 10 s on datetime by bidder: count(*) FILTER lt, count(*) FILTER lt [append-only; state: one row per bidder and session, until it closes]
                    Calc bidder, price < 5, datetime [append-only]
                      Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void sessionsGroupedOtherwiseAreNotClosed() {
        for (List<String> keys :
                List.of(List.of("auction", "window_end"), List.of("bidder", "auction", "window_start", "window_end"))) {
            PlanNode plan = recognized(group(SESSIONS, keys, count()));
            MillraceException refusal =
                    assertThrows(MillraceException.class, () -> EmissionCheck.refuseOpenSessions(plan));
            assertEquals("0A000", refusal.sqlState().code());
        }
    }

    @Test
    void sessionsWithoutAWatermarkAreKeptForEver() {
        PlanNode undated = session(plain(), "bidder", 10);
        becomes(group(undated, List.of("bidder", "window_end"), count()), """
                Aggregate by bidder, window_end: count(*) [changes; state: one row per bidder, window_end, for ever]
                  WindowAssign SESSION gap 10 s on datetime [changes]
                    Exchange by hash of bidder [append-only]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    // ---- rows that carry windows -----------------------------------------------------------------------------------

    private static final PlanNode COUNTS =
            group(hop(bid(), 2, 10), List.of("auction", "window_start", "window_end"), count());

    @Test
    void groupingByACarriedWindowClosesWithIt() {
        becomes(group(COUNTS, List.of("window_end"), max(COUNTS, "count")), """
                Calc window_end, max_count [append-only]
                  WindowAggregate the rows' windows (window_start, window_end): max(count) [append-only; state: one row per window, until it closes]
                    Calc auction, window_start, window_end, count [append-only]
                      WindowAggregate HOP 10 s every 2 s on datetime by auction: count(*) [append-only; state: one row per auction and slice of 2 s, until it closes]
                        Calc auction, datetime [append-only]
                          Watermark datetime - 4 s, no row is late [append-only]
                            Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void theEndOfAWindowIsBroughtBackWhereOnlyItsStartWasKept() {
        PlanNode kept = project(COUNTS, "window_start", "count");
        String text = text(recognized(group(kept, List.of("window_start"), max(kept, "count"))));
        assertTrue(text.contains("WindowAggregate the rows' windows (window_start, window_end): max(count)"), text);
        PlanNode ranked = recognized(top(kept, "window_start"));
        assertEquals(kept.schema(), ranked.schema());
        assertTrue(text(ranked).contains("the best rows of open windows"), text(ranked));
        PlanNode without = project(COUNTS, "auction", "count");
        stays(group(recognized(without), List.of("auction"), max(without, "count")));
    }

    private static PlanNode top(PlanNode input, String partition) {
        return Nodes.topN(
                input,
                at(input, new String[] {partition}),
                List.of(new OrderKey(at(input, "count"), true, true)),
                PlanNode.Rank.ROW_NUMBER,
                3,
                0,
                false,
                OptionalInt.empty());
    }

    @Test
    void ranksWithinAWindowAreKnownWhenItCloses() {
        PlanNode.TopN ofWindow = (PlanNode.TopN) recognized(top(COUNTS, "window_start"));
        assertEquals(OptionalInt.of(2), ofWindow.windowEnd());
        PlanNode.TopN ofAll = (PlanNode.TopN) recognized(top(COUNTS, "auction"));
        assertEquals(OptionalInt.empty(), ofAll.windowEnd());
    }

    private static PlanNode join(PlanNode left, PlanNode right, String key) {
        return Nodes.join(
                left,
                right,
                PlanNode.JoinKind.INNER,
                List.of(at(left, "auction"), at(left, key)),
                List.of(at(right, "auction"), at(right, key)),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void aJoinOfEqualWindowsForgetsThemTogether() {
        PlanNode others =
                group(hop(bid(), 2, 10), List.of("auction", "window_start", "window_end"), max(bid(), "price"));
        PlanNode.Join byEnd = (PlanNode.Join) recognized(join(COUNTS, others, "window_end"));
        assertEquals(Optional.of(new JoinTime.WindowEnds(2, 2)), byEnd.windowEnds());
        PlanNode.Join byStart = (PlanNode.Join) recognized(join(COUNTS, others, "window_start"));
        assertEquals(Optional.of(new JoinTime.WindowEnds(2, 2)), byStart.windowEnds());
    }

    @Test
    void windowsOfDifferentSizesDoNotEndTogetherWhenTheyStartTogether() {
        PlanNode others = group(tumble(bid(), 20), List.of("auction", "window_start", "window_end"), count());
        assertEquals(Optional.empty(), ((PlanNode.Join) recognized(join(COUNTS, others, "window_start"))).windowEnds());
    }

    @Test
    void aJoinOnOtherColumnsKeepsItsRows() {
        PlanNode.Join joined = (PlanNode.Join) recognized(Nodes.join(
                COUNTS,
                project(bid(), "auction", "price"),
                PlanNode.JoinKind.INNER,
                List.of(0),
                List.of(0),
                Optional.empty(),
                Optional.empty()));
        assertEquals(Optional.empty(), joined.windowEnds());
    }

    private static Optional<JoinTime> timeOfJoinByTime(boolean onClose) {
        PlanNode bids = project(bid(), "auction", "datetime");
        PlanNode join = Nodes.join(
                bids, bids, PlanNode.JoinKind.INNER, List.of(0, 1), List.of(0, 1), Optional.empty(), Optional.empty());
        return ((PlanNode.Join) WindowRecognition.apply(join, standing(), onClose)).time();
    }

    @Test
    void equalTimesAreAKeyByWhichLateRowsMeetToo() {
        assertEquals(Optional.empty(), timeOfJoinByTime(false));
    }

    @Test
    void whoWantsRowsOnlyOnceTheyAreFinalHasEqualTimesBoundAJoin() {
        assertEquals(Optional.of(new JoinTime.Bounds(1, 1, 0, 0)), timeOfJoinByTime(true));
    }

    // ---- watermarks ------------------------------------------------------------------------------------------------

    private static String placed(PlanNode plan) {
        return text(WatermarkPlacement.apply(recognized(plan), false));
    }

    @Test
    void aWatermarkThatNobodyWaitsForDisappears() {
        assertTrue(!placed(group(bid(), List.of("auction"), count())).contains("Watermark"));
        assertTrue(!placed(group(TUMBLED, List.of("auction"), count())).contains("Watermark"));
    }

    @Test
    void aRowIsLateWhenItsLongestLivedWindowHasClosed() {
        List<PlanNode> branches = new ArrayList<>();
        branches.add(project(group(TUMBLED, List.of("window_end"), count()), "count"));
        branches.add(project(COUNTS, "count"));
        String text = placed(Nodes.union(branches));
        assertTrue(text.contains("Watermark datetime - 4 s, late beyond HOP 10 s every 2 s"), text);
        assertTrue(!text.contains("late beyond TUMBLE"), text);
    }

    @Test
    void changesOfWindowsDropLateRowsOnlyWhenAsked() {
        PlanNode updating = group(TUMBLED, List.of("window_end"), count());
        assertTrue(!text(WatermarkPlacement.apply(updating, false)).contains("Watermark"));
        assertTrue(text(WatermarkPlacement.apply(updating, true)).contains("late beyond TUMBLE 10 s"));
    }

    // ---- emission --------------------------------------------------------------------------------------------------

    private static String whyNot(PlanNode plan) {
        EmissionCheck check = new EmissionCheck(standing(), Fixture::facts);
        return assertThrows(MillraceException.class, () -> check.requireOnWindowClose(recognized(plan)))
                .getMessage();
    }

    @Test
    void whatCannotEmitOnceSaysWhy() {
        String impossible = "EMIT ON WINDOW CLOSE is not possible here: ";
        assertEquals(
                impossible + "the groups by auction are not of one window each and never end",
                whyNot(group(TUMBLED, List.of("auction"), count())));
        assertEquals(
                impossible + "plain has no watermark",
                whyNot(group(tumble(plain(), 10), List.of("window_end"), count())));
        assertEquals(impossible + "the rows of \"device\" may change", whyNot(Fixture.device()));
        assertEquals(impossible + "an aggregate over all rows never ends", whyNot(group(bid(), List.of(), count())));
        assertEquals(
                impossible
                        + "no rows are grouped or ranked by a window, and no column is the event time of a watermark",
                whyNot(bid()));
    }
}
