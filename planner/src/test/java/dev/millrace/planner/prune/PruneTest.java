package dev.millrace.planner.prune;

import static dev.millrace.planner.tree.Fixture.at;
import static dev.millrace.planner.tree.Fixture.bid;
import static dev.millrace.planner.tree.Fixture.column;
import static dev.millrace.planner.tree.Fixture.count;
import static dev.millrace.planner.tree.Fixture.device;
import static dev.millrace.planner.tree.Fixture.filter;
import static dev.millrace.planner.tree.Fixture.group;
import static dev.millrace.planner.tree.Fixture.max;
import static dev.millrace.planner.tree.Fixture.number;
import static dev.millrace.planner.tree.Fixture.plain;
import static dev.millrace.planner.tree.Fixture.project;
import static dev.millrace.planner.tree.Fixture.test;
import static dev.millrace.planner.tree.Fixture.text;
import static dev.millrace.planner.tree.Fixture.tumble;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Fixture;
import dev.millrace.planner.tree.Nodes;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What is read, and how often. */
class PruneTest {
    private static void prunes(PlanNode before, String after) {
        assertEquals(after, text(PruneColumns.apply(before)));
    }

    @Test
    void onlyUsedColumnsAreReadAndComputed() {
        PlanNode grouped = group(plain(), List.of("channel"), count(), max(plain(), "price"));
        prunes(project(grouped, "max_price"), """
                Calc max_price [changes]
                  Aggregate by channel: max(price) [changes; state: one row per channel, for ever]
                    Scan plain: price, channel [append-only]
                """);
    }

    @Test
    void aPlanKeepsItsColumnsInOrder() {
        PlanNode swapped = project(bid(), "price", "auction");
        assertEquals(swapped.schema(), PruneColumns.apply(swapped).schema());
        prunes(plain(), text(plain()));
    }

    @Test
    void countingNeedsNoColumns() {
        prunes(group(plain(), List.of(), count()), """
                Aggregate: count(*) [changes; state: one row]
                  Scan plain: no columns [append-only]
                """);
    }

    @Test
    void oneCallStaysWhereNobodyLooksAtIt() {
        PlanNode one = group(plain(), List.of(), count(), max(plain(), "price"));
        prunes(Nodes.project(one, List.of(number(1))), """
                Calc 1 [changes]
                  Aggregate: count(*) [changes; state: one row]
                    Scan plain: no columns [append-only]
                """);
    }

    @Test
    void theWatermarksTimeIsAlwaysRead() {
        prunes(project(bid(), "price"), """
                Calc price [append-only]
                  Watermark datetime - 4 s, no row is late [append-only]
                    Scan bid: price, datetime [append-only]
                """);
    }

    @Test
    void windowsKeepTheirTimeAndBounds() {
        prunes(project(tumble(bid(), 10), "window_end", "price"), """
                Calc window_end, price [append-only]
                  WindowAssign TUMBLE 10 s on datetime [append-only]
                    Watermark datetime - 4 s, no row is late [append-only]
                      Scan bid: price, datetime [append-only]
                """);
    }

    @Test
    void bothSidesOfAJoinGiveWhatIsUsed() {
        PlanNode joined = Nodes.join(
                plain(),
                device(),
                PlanNode.JoinKind.LEFT,
                at(plain(), new String[] {"channel"}),
                List.of(0),
                Optional.empty(),
                Optional.empty());
        prunes(project(joined, "site", "price"), """
                Calc site, price [changes]
                  Join LEFT on channel = device [changes; state: all rows of both sides, grows with every row of plain]
                    Scan plain: price, channel [append-only]
                    Scan device: device, site [changes]
                """);
    }

    @Test
    void aRankNobodyReadsIsNotEmitted() {
        PlanNode ranked = Nodes.topN(
                plain(),
                List.of(0),
                List.of(new OrderKey(2, true, true)),
                PlanNode.Rank.ROW_NUMBER,
                1,
                0,
                true,
                OptionalInt.empty());
        PlanNode pruned = PruneColumns.apply(project(ranked, "bidder"));
        assertEquals(false, ((PlanNode.TopN) pruned.inputs().get(0)).emitRank());
        PlanNode kept = PruneColumns.apply(project(ranked, "rank"));
        assertEquals(true, ((PlanNode.TopN) kept.inputs().get(0)).emitRank());
    }

    @Test
    void theBranchesOfAUnionKeepTheSameColumns() {
        PlanNode union =
                Nodes.union(List.of(plain(), filter(plain(), test("gt", column(plain(), "auction"), number(5)))));
        prunes(project(union, "price"), """
                Union [append-only]
                  Scan plain: price [append-only]
                  Calc price where auction > 5 [append-only]
                    Scan plain: auction, price [append-only]
                """);
    }

    // ---- reading once ----------------------------------------------------------------------------------------------

    @Test
    void aStreamIsReadOnceWithAllColumnsThatAreUsed() {
        PlanNode union = Nodes.union(List.of(project(bid(), "price"), project(bid(), "auction")));
        assertEquals("""
                Union [append-only]
                  Calc price [append-only]
                    Calc price, datetime [append-only]
                      #1 Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, price, datetime [append-only]
                  Calc auction [append-only]
                    Calc auction, datetime [append-only]
                      #1 as above
                """, text(ShareScans.apply(PruneColumns.apply(union))));
    }

    @Test
    void aStreamReadOnceStaysAsItIs() {
        PlanNode plan = PruneColumns.apply(project(bid(), "price"));
        assertEquals(text(plan), text(ShareScans.apply(plan)));
    }

    // ---- predicates ------------------------------------------------------------------------------------------------

    private static void pushes(PlanNode before, String scan) {
        String text = text(PushPredicatesIntoScan.apply(before, Fixture::facts));
        assertEquals(
                scan, text.lines().reduce((first, last) -> last).orElseThrow().trim());
    }

    @Test
    void aReaderLearnsWhichRowsNobodyWants() {
        PlanNode wanted = filter(
                plain(),
                Fixture.and(
                        test("lt", number(5), column(plain(), "price")),
                        test("is_not_null", column(plain(), "channel")),
                        test("eq", column(plain(), "auction"), column(plain(), "bidder"))));
        pushes(
                wanted,
                "Scan plain: auction, bidder, price, channel, datetime hint price > 5 AND channel IS NOT NULL"
                        + " [append-only]");
    }

    @Test
    void aWatermarkMustSeeAllRows() {
        pushes(
                filter(bid(), test("gt", column(bid(), "price"), number(5))),
                "Scan bid: auction, bidder, price, channel, datetime [append-only]");
    }

    @Test
    void aSharedReaderIsNotTold() {
        pushes(
                filter(device(), test("is_null", column(device(), "site"))),
                "Scan device: device, site, limit_c [changes]");
    }

    @Test
    void aReaderForTwoFiltersIsNotTold() {
        PlanNode union = Nodes.union(List.of(
                filter(plain(), test("gt", column(plain(), "price"), number(5))),
                filter(plain(), test("lt", column(plain(), "price"), number(3)))));
        assertEquals(text(union), text(PushPredicatesIntoScan.apply(union, Fixture::facts)));
    }
}
