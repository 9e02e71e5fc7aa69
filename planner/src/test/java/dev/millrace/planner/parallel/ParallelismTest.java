package dev.millrace.planner.parallel;

import static dev.millrace.planner.tree.Fixture.at;
import static dev.millrace.planner.tree.Fixture.bid;
import static dev.millrace.planner.tree.Fixture.column;
import static dev.millrace.planner.tree.Fixture.count;
import static dev.millrace.planner.tree.Fixture.countDistinct;
import static dev.millrace.planner.tree.Fixture.device;
import static dev.millrace.planner.tree.Fixture.filter;
import static dev.millrace.planner.tree.Fixture.group;
import static dev.millrace.planner.tree.Fixture.max;
import static dev.millrace.planner.tree.Fixture.number;
import static dev.millrace.planner.tree.Fixture.plain;
import static dev.millrace.planner.tree.Fixture.standing;
import static dev.millrace.planner.tree.Fixture.test;
import static dev.millrace.planner.tree.Fixture.text;
import static dev.millrace.planner.tree.Fixture.tumble;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.simplify.Simplification;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.window.WindowRecognition;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Where rows change tasks, and what is done before they do. */
class ParallelismTest {
    private static void becomes(PlanNode before, String after) {
        assertEquals(after, text(Parallelism.apply(before, 2, standing())));
    }

    @Test
    void oneTaskNeedsNoExchange() {
        PlanNode plan = group(plain(), List.of("channel"), count());
        assertEquals(plan, Parallelism.apply(plan, 1, standing()));
    }

    @Test
    void filtersStayWithTheirReader() {
        PlanNode plan = filter(plain(), test("gt", column(plain(), "price"), number(5)));
        assertEquals(plan, Parallelism.apply(plan, 2, standing()));
    }

    /** As {@link dev.millrace.planner.Planner} does before: the rows are append-only, and the aggregation knows. */
    private static PlanNode promised(PlanNode plan) {
        PlanNode.Aggregate aggregate = (PlanNode.Aggregate) plan;
        return Nodes.aggregate(aggregate.input(), aggregate.keys(), aggregate.calls(), aggregate.phase(), true);
    }

    @Test
    void groupsAreFormedInEachTaskAndMerged() {
        becomes(promised(group(plain(), List.of("channel"), count(), max(plain(), "price"))), """
                Aggregate final by channel: count(*), max(price) [changes; state: one row per channel, for ever]
                  Exchange by hash of channel [changes]
                    Aggregate partial by channel: count(*), max(price) [changes]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void oneGroupIsMergedInOneTask() {
        becomes(promised(group(plain(), List.of(), count())), """
                Aggregate final: count(*) [changes; state: one row]
                  Exchange to one task [changes]
                    Aggregate partial: count(*) [changes]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void groupsOfGroupsThatAreTogetherAlreadyStay() {
        PlanNode groups = promised(group(plain(), List.of("channel", "auction"), count()));
        PlanNode twice = group(groups, List.of("channel", "auction", "count"), count());
        becomes(twice, """
                Aggregate by channel, auction, count: count(*) [changes; state: one row per channel, auction, count, for ever]
                  Aggregate final by channel, auction: count(*) [changes; state: one row per channel, auction, for ever]
                    Exchange by hash of channel, auction [changes]
                      Aggregate partial by channel, auction: count(*) [changes]
                        Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void distinctValuesOfGroupsAreFoundInEachTaskFirst() {
        PlanNode plan = promised(group(plain(), List.of("channel"), count(), countDistinct(plain(), "bidder")));
        becomes(plan, """
                Aggregate final by channel: count(*), count(DISTINCT bidder) [changes; state: one row per channel, for ever]
                  Exchange by hash of channel [changes]
                    Aggregate partial by channel: count(*), count(DISTINCT bidder) [changes]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void distinctValuesOfAllRowsAreSpreadBeforeTheyAreCounted() {
        PlanNode plan = promised(group(
                plain(),
                List.of(),
                count(),
                countDistinct(plain(), "bidder"),
                countDistinct(plain(), "auction"),
                max(plain(), "price")));
        becomes(plan, """
                Calc coalesce(sum_count::bigint, 0), coalesce(sum_count_bidder::bigint, 0), coalesce(sum_count_auction::bigint, 0), max_max_price [changes]
                  Aggregate: sum(count), sum(count_bidder), sum(count_auction), max(max_price) [changes; state: one row]
                    Exchange to one task [changes]
                      Union [changes]
                        Calc count, count_bidder, NULL, max_price [changes]
                          Aggregate: count(DISTINCT bidder), count(*), max(price) [changes; state: one row]
                            Exchange by hash of bidder [append-only]
                              Calc bidder, price [append-only]
                                #1 Scan plain: auction, bidder, price, channel, datetime [append-only]
                        Calc NULL, NULL, count_auction, NULL [changes]
                          Aggregate: count(DISTINCT auction) [changes; state: one row]
                            Exchange by hash of auction [append-only]
                              Calc auction [append-only]
                                #1 as above
                """);
        assertEquals(types(plan), types(Parallelism.apply(plan, 2, standing())));
    }

    private static List<DataType> types(PlanNode plan) {
        return plan.schema().fields().stream().map(Field::type).toList();
    }

    private static PlanNode windows(PlanNode plan) {
        return new Simplification(UnaryOperator.identity()).apply(WindowRecognition.apply(plan, standing(), false));
    }

    @Test
    void slicesAreFormedInEachTask() {
        becomes(windows(group(tumble(bid(), 10), List.of("auction", "window_end"), count())), """
                Calc auction, window_end, count [append-only]
                  WindowAggregate final TUMBLE 10 s on slice_end by auction: count(*) [append-only; state: one row per auction and window, until it closes]
                    Exchange by hash of auction [append-only]
                      WindowAggregate partial TUMBLE 10 s on datetime by auction: count(*) [append-only]
                        Calc auction, datetime [append-only]
                          Watermark datetime - 4 s, no row is late [append-only]
                            Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void distinctValuesOfAWindowAreSpreadToo() {
        PlanNode windows = tumble(bid(), 10);
        becomes(windows(group(windows, List.of("window_end"), countDistinct(windows, "bidder"))), """
                Calc window_end, coalesce [append-only]
                  Calc coalesce(sum_count_bidder::bigint, 0), window_start, window_end [append-only]
                    WindowAggregate the rows' windows (window_start, window_end): sum(count_bidder) [append-only; state: one row per window, until it closes]
                      Exchange to one task [append-only]
                        WindowAggregate TUMBLE 10 s on datetime: count(DISTINCT bidder) [append-only; state: one row per window, until it closes]
                          Exchange by hash of bidder [append-only]
                            Calc bidder, datetime [append-only]
                              Watermark datetime - 4 s, no row is late [append-only]
                                Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void bothSidesOfAJoinMeet() {
        PlanNode join = Nodes.join(
                plain(),
                device(),
                PlanNode.JoinKind.INNER,
                at(plain(), new String[] {"channel"}),
                List.of(0),
                Optional.empty(),
                Optional.empty());
        becomes(join, """
                Join INNER on channel = device [changes; state: all rows of both sides, grows with every row of plain]
                  Exchange by hash of channel [append-only]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                  Exchange by hash of device [changes]
                    Scan device: device, site, limit_c [changes]
                """);
    }

    @Test
    void groupsComeByWhatTheirJoinNeeds() {
        PlanNode groups = promised(group(plain(), List.of("auction", "channel"), count()));
        PlanNode join = Nodes.join(
                groups, device(), PlanNode.JoinKind.INNER, List.of(1), List.of(0), Optional.empty(), Optional.empty());
        becomes(join, """
                Join INNER on channel = device [changes; state: all rows of both sides]
                  Aggregate final by auction, channel: count(*) [changes; state: one row per auction, channel, for ever]
                    Exchange by hash of channel [changes]
                      Aggregate partial by auction, channel: count(*) [changes]
                        Scan plain: auction, bidder, price, channel, datetime [append-only]
                  Exchange by hash of device [changes]
                    Scan device: device, site, limit_c [changes]
                """);
    }

    @Test
    void theBestOfAllAreAmongTheBestOfEach() {
        PlanNode best = Nodes.topN(
                plain(),
                List.of(),
                List.of(new OrderKey(2, true, true)),
                PlanNode.Rank.ROW_NUMBER,
                3,
                2,
                false,
                OptionalInt.empty());
        becomes(best, """
                TopN 3 after 2 by row_number order price DESC [changes; state: all candidates, for ever]
                  Exchange to one task [changes]
                    TopN 5 by row_number order price DESC [changes; state: all candidates, for ever]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }
}
