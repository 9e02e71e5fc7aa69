package dev.millrace.planner.simplify;

import static dev.millrace.planner.tree.Fixture.and;
import static dev.millrace.planner.tree.Fixture.bid;
import static dev.millrace.planner.tree.Fixture.call;
import static dev.millrace.planner.tree.Fixture.column;
import static dev.millrace.planner.tree.Fixture.count;
import static dev.millrace.planner.tree.Fixture.device;
import static dev.millrace.planner.tree.Fixture.filter;
import static dev.millrace.planner.tree.Fixture.group;
import static dev.millrace.planner.tree.Fixture.join;
import static dev.millrace.planner.tree.Fixture.number;
import static dev.millrace.planner.tree.Fixture.plain;
import static dev.millrace.planner.tree.Fixture.project;
import static dev.millrace.planner.tree.Fixture.right;
import static dev.millrace.planner.tree.Fixture.session;
import static dev.millrace.planner.tree.Fixture.test;
import static dev.millrace.planner.tree.Fixture.text;
import static dev.millrace.planner.tree.Fixture.tumble;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.OrderKey;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.JoinKind;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.planner.tree.Nodes;
import dev.millrace.planner.tree.Rewrite;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Each rewrite: what it makes of what, and where it keeps its hands off. */
class SimplifyTest {
    private static final PlanNode PLAIN = plain();
    private static final Expression PRICE = column(PLAIN, "price");

    private static void rewrites(PlanNode before, Rewrite rewrite, String after) {
        assertEquals(after, text(Rewriter.rewrite(before, rewrite)));
    }

    private static void leaves(PlanNode plan, Rewrite rewrite) {
        assertEquals(text(plan), text(Rewriter.rewrite(plan, rewrite)));
    }

    // ---- constants -------------------------------------------------------------------------------------------------

    /** Adds BIGINT literals; all that these tests need of an evaluator. */
    private static Expression fold(Expression expression) {
        return expression instanceof Expression.Call call && call.function().equals("add")
                ? number((Long) ((Literal) call.arguments().get(0)).value()
                        + (Long) ((Literal) call.arguments().get(1)).value())
                : expression;
    }

    private static final Rewrite FOLD = new FoldConstants(SimplifyTest::fold);

    @Test
    void constantPartsAreComputedOnce() {
        Expression eleven = call("add", DataType.BIGINT, number(5), number(6));
        rewrites(filter(PLAIN, and(test("gt", PRICE, eleven), Expressions.literal(true))), FOLD, """
                Calc auction, bidder, price, channel, datetime where price > 11 [append-only]
                  Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void whatNeverHoldsNeedsNoRows() {
        rewrites(filter(PLAIN, and(test("gt", PRICE, number(5)), Expressions.literal(false))), FOLD, """
                Values no rows [append-only]
                """);
    }

    @Test
    void aColumnThatIsNeverNullNeedsNoTest() {
        rewrites(filter(PLAIN, Expressions.isNotNull(PRICE)), FOLD, """
                Calc auction, bidder, price, channel, datetime [append-only]
                  Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
        leaves(filter(PLAIN, Expressions.isNotNull(column(PLAIN, "channel"))), FOLD);
    }

    @Test
    void fewConstantRowsAreComputed() {
        Schema one = Schema.of(new Field("x", DataType.BIGINT, false));
        PlanNode values = new PlanNode.Values(List.of(List.of(number(1)), List.of(number(2))), one);
        Rewrite compute = new ComputeValues(new FoldConstants(SimplifyTest::fold));
        Expression x = Nodes.column(values, 0);
        rewrites(Nodes.project(values, List.of(call("add", DataType.BIGINT, x, number(1)))), compute, """
                Values (2), (3) [append-only]
                """);
        leaves(filter(values, test("gt", x, number(1))), compute);
        leaves(Nodes.project(values, List.of(call("proctime", DataType.TIMESTAMPTZ))), compute);
    }

    @Test
    void theTimeOfTheClockIsNoConstant() {
        leaves(
                Nodes.project(PLAIN, List.of(call("proctime", DataType.TIMESTAMPTZ))),
                new FoldConstants(expression -> number(0)));
    }

    // ---- neighbours ------------------------------------------------------------------------------------------------

    @Test
    void twoCalcsBecomeOne() {
        PlanNode lower = Nodes.calc(
                PLAIN,
                Optional.of(test("gt", PRICE, number(5))),
                List.of(call("multiply", DataType.BIGINT, PRICE, number(2))));
        rewrites(filter(lower, test("lt", Nodes.column(lower, 0), number(100))), new MergeCalcs(), """
                Calc price * 2 where (price > 5) AND ((price * 2) < 100) [append-only]
                  Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void aVolatileColumnIsComputedOnceForAll() {
        PlanNode lower = Nodes.project(PLAIN, List.of(call("proctime", DataType.TIMESTAMPTZ)));
        leaves(Nodes.project(lower, List.of(Nodes.column(lower, 0), Nodes.column(lower, 0))), new MergeCalcs());
    }

    @Test
    void aCalcThatChangesNothingDisappears() {
        rewrites(Nodes.project(PLAIN, Nodes.columns(PLAIN)), new RemoveIdentityCalc(), text(PLAIN));
        leaves(project(PLAIN, "bidder", "auction"), new RemoveIdentityCalc());
    }

    @Test
    void constantRowsOfAUnionAreOfOneNode() {
        PlanNode one = values(1);
        PlanNode two = values(2);
        PlanNode three = values(3);
        PlanNode other = project(PLAIN, "price");
        rewrites(Nodes.union(List.of(one, two, other, three)), new MergeValues(), """
                Union [append-only]
                  Values (1), (2) [append-only]
                  Calc price [append-only]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                  Values (3) [append-only]
                """);
        rewrites(Nodes.union(List.of(one, two)), new MergeValues(), """
                Values (1), (2) [append-only]
                """);
        leaves(Nodes.union(List.of(one, other, two)), new MergeValues());
    }

    private static PlanNode values(long number) {
        return new PlanNode.Values(List.of(List.of(number(number))), Schema.of(new Field("n", DataType.BIGINT, false)));
    }

    @Test
    void eachInputOfAUnionIsFilteredByItself() {
        PlanNode union = Nodes.union(List.of(plain(), bid()));
        rewrites(filter(union, test("gt", PRICE, number(5))), new PushCalcBelowUnion(), """
                Union [append-only]
                  Calc auction, bidder, price, channel, datetime where price > 5 [append-only]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                  Calc auction, bidder, price, channel, datetime where price > 5 [append-only]
                    Watermark datetime - 4 s, no row is late [append-only]
                      Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    // ---- filters ---------------------------------------------------------------------------------------------------

    @Test
    void aConditionOnKeysComesBeforeTheGroups() {
        PlanNode grouped = group(PLAIN, List.of("channel"), count());
        Expression onKey = test("eq", column(grouped, "channel"), text("web"));
        Expression onCount = test("gt", column(grouped, "count"), number(1));
        rewrites(filter(grouped, and(onKey, onCount)), new PushFilterBelowAggregate(), """
                Calc channel, count where count > 1 [changes]
                  Aggregate by channel: count(*) [changes; state: one row per channel, for ever]
                    Calc auction, bidder, price, channel, datetime where channel = 'web' [append-only]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
        leaves(filter(grouped, onCount), new PushFilterBelowAggregate());
        leaves(filter(group(PLAIN, List.of(), count()), Expressions.literal(false)), new PushFilterBelowAggregate());
    }

    @Test
    void rowsAreFilteredBeforeTheyHaveWindows() {
        PlanNode windows = tumble(bid(), 10);
        Expression onWindow = test("lt", column(windows, "datetime"), column(windows, "window_end"));
        rewrites(filter(windows, and(test("gt", PRICE, number(5)), onWindow)), new PushFilterBelowWindowAssign(), """
                Calc auction, bidder, price, channel, datetime, window_start, window_end where datetime < window_end [append-only]
                  WindowAssign TUMBLE 10 s on datetime [append-only]
                    Calc auction, bidder, price, channel, datetime where price > 5 [append-only]
                      Watermark datetime - 4 s, no row is late [append-only]
                        Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
        leaves(filter(windows, onWindow), new PushFilterBelowWindowAssign());
    }

    @Test
    void aFilterMustNotTearSessionsApart() {
        PlanNode sessions = session(bid(), "bidder", 10);
        leaves(filter(sessions, test("gt", PRICE, number(5))), new PushFilterBelowWindowAssign());
        rewrites(
                filter(sessions, test("eq", column(sessions, "bidder"), number(7))),
                new PushFilterBelowWindowAssign(),
                """
                Calc auction, bidder, price, channel, datetime, window_start, window_end [changes]
                  WindowAssign SESSION gap 10 s on datetime [changes]
                    Exchange by hash of bidder [append-only]
                      Calc auction, bidder, price, channel, datetime where bidder = 7 [append-only]
                        Watermark datetime - 4 s, no row is late [append-only]
                          Scan bid: auction, bidder, price, channel, datetime [append-only]
                """);
    }

    @Test
    void filtersStayAboveWatermarks() {
        PlanNode plan = filter(bid(), test("gt", PRICE, number(5)));
        assertEquals(text(plan), text(new Simplification(SimplifyTest::fold).apply(plan)));
    }

    private static PlanNode ranked(long limit) {
        return Nodes.topN(
                PLAIN,
                List.of(0),
                List.of(new OrderKey(2, true, true)),
                PlanNode.Rank.ROW_NUMBER,
                limit,
                0,
                true,
                OptionalInt.empty());
    }

    @Test
    void aConditionOnTheRankBecomesTheLimit() {
        PlanNode ranked = ranked(Long.MAX_VALUE);
        Expression rank = column(ranked, "rank");
        rewrites(
                filter(ranked, and(test("ge", number(5), rank), test("gt", rank, number(2)))),
                new LimitTopNByRank(),
                """
                Calc auction, bidder, price, channel, datetime, rank [changes]
                  TopN 3 after 2 by row_number per auction order price DESC [changes; state: all candidates, for ever]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
        rewrites(filter(ranked, test("lt", rank, number(1))), new LimitTopNByRank(), """
                Values no rows [append-only]
                """);
        leaves(filter(ranked, test("gt", PRICE, number(5))), new LimitTopNByRank());
    }

    @Test
    void aConditionOnThePartitionComesBeforeTheRanks() {
        PlanNode ranked = ranked(3);
        rewrites(filter(ranked, test("eq", column(ranked, "auction"), number(1))), new PushFilterBelowTopN(), """
                Calc auction, bidder, price, channel, datetime, rank [changes]
                  TopN 3 by row_number per auction order price DESC [changes; state: all candidates, for ever]
                    Calc auction, bidder, price, channel, datetime where auction = 1 [append-only]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                """);
        leaves(filter(ranked, test("gt", PRICE, number(5))), new PushFilterBelowTopN());
    }

    // ---- joins -----------------------------------------------------------------------------------------------------

    private static final PlanNode DEVICE = device();
    private static final Expression SAME_CHANNEL = test("eq", column(PLAIN, "channel"), right(PLAIN, DEVICE, "device"));

    @Test
    void theKeysOfAJoinAreFound() {
        Expression condition = and(
                SAME_CHANNEL,
                test("gt", PRICE, number(5)),
                test("eq", right(PLAIN, DEVICE, "site"), text("roof")),
                test("lt", PRICE, right(PLAIN, DEVICE, "limit_c")));
        rewrites(join(JoinKind.INNER, PLAIN, DEVICE, condition), new SplitJoinCondition(), """
                Join INNER on channel = device AND price < limit_c [changes; state: all rows of both sides, grows with every row of plain]
                  Calc auction, bidder, price, channel, datetime where price > 5 [append-only]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                  Calc device, site, limit_c where site = 'roof' [changes]
                    Scan device: device, site, limit_c [changes]
                """);
    }

    @Test
    void aComputedKeyBecomesAColumn() {
        Expression lowered = call("lower", DataType.TEXT, right(PLAIN, DEVICE, "device"));
        rewrites(
                join(JoinKind.INNER, PLAIN, DEVICE, test("eq", lowered, column(PLAIN, "channel"))),
                new SplitJoinCondition(),
                """
                Calc auction, bidder, price, channel, datetime, device, site, limit_c [changes]
                  Join INNER on channel = lower [changes; state: all rows of both sides, grows with every row of plain]
                    Calc auction, bidder, price, channel, datetime [append-only]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                    Calc device, site, limit_c, lower(device) [changes]
                      Scan device: device, site, limit_c [changes]
                """);
    }

    @Test
    void theRowsThatAppearInAnyCaseAreNotFiltered() {
        PlanNode join = join(JoinKind.LEFT, PLAIN, DEVICE, and(SAME_CHANNEL, test("gt", PRICE, number(5))));
        rewrites(join, new SplitJoinCondition(), """
                Join LEFT on channel = device AND price > 5 [changes; state: all rows of both sides, grows with every row of plain]
                  Calc auction, bidder, price, channel, datetime [append-only]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                  Calc device, site, limit_c [changes]
                    Scan device: device, site, limit_c [changes]
                """);
    }

    @Test
    void nullEqualsNullByTwoKeys() {
        Expression same = test("is_not_distinct_from", column(PLAIN, "channel"), right(PLAIN, DEVICE, "site"));
        rewrites(join(JoinKind.INNER, PLAIN, DEVICE, same), new SplitJoinCondition(), """
                Calc auction, bidder, price, channel, datetime, device, site, limit_c [changes]
                  Join INNER on is_null = is_null AND coalesce = coalesce [changes; state: all rows of both sides, grows with every row of plain]
                    Calc auction, bidder, price, channel, datetime, channel IS NULL, coalesce(channel, '') [append-only]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                    Calc device, site, limit_c, site IS NULL, coalesce(site, '') [changes]
                      Scan device: device, site, limit_c [changes]
                """);
        same = test("is_not_distinct_from", number(5), PRICE);
        leaves(join(JoinKind.LEFT, PLAIN, DEVICE, same), new SplitJoinCondition());
    }

    @Test
    void aFilterAboveAnOuterJoinMovesToTheSideThatSurvives() {
        PlanNode join = join(JoinKind.LEFT, PLAIN, DEVICE, SAME_CHANNEL);
        rewrites(filter(join, test("gt", column(join, "price"), number(5))), new PushFilterIntoJoin(), """
                Calc auction, bidder, price, channel, datetime, device, site, limit_c [changes]
                  Join LEFT on channel = device [changes; state: all rows of both sides, grows with every row of plain]
                    Calc auction, bidder, price, channel, datetime where price > 5 [append-only]
                      Scan plain: auction, bidder, price, channel, datetime [append-only]
                    Scan device: device, site, limit_c [changes]
                """);
        leaves(filter(join, test("is_null", column(join, "site"))), new PushFilterIntoJoin());
    }

    @Test
    void anOuterJoinWhosePaddedRowsAreDroppedIsAnInnerOne() {
        PlanNode join = join(JoinKind.LEFT, PLAIN, DEVICE, SAME_CHANNEL);
        PlanNode rewritten =
                Rewriter.rewrite(filter(join, test("eq", column(join, "site"), text("roof"))), new RemoveOuterJoin());
        assertEquals(JoinKind.INNER, ((PlanNode.Join) rewritten.inputs().get(0)).kind());
        Expression lower = new Expression.Call("lower", List.of(column(join, "site")), DataType.TEXT, true);
        rewritten = Rewriter.rewrite(filter(join, test("eq", lower, text("roof"))), new RemoveOuterJoin());
        assertEquals(JoinKind.INNER, ((PlanNode.Join) rewritten.inputs().get(0)).kind());
        Expression otherwise =
                new Expression.Call("coalesce", List.of(column(join, "site"), text("roof")), DataType.TEXT, false);
        leaves(filter(join, test("eq", otherwise, text("roof"))), new RemoveOuterJoin());
        leaves(filter(join, test("is_null", column(join, "site"))), new RemoveOuterJoin());
        leaves(filter(join, test("gt", column(join, "price"), number(5))), new RemoveOuterJoin());
    }

    @Test
    void rowsKeptOnlyWithoutAPartnerAreAnAntiJoin() {
        PlanNode join = join(JoinKind.LEFT, PLAIN, DEVICE, SAME_CHANNEL);
        Expression missing = test("is_null", column(join, "device"));
        PlanNode unmatched = Nodes.calc(join, Optional.of(missing), List.of(column(join, "price")));
        rewrites(unmatched, new UseAntiJoin(), """
                Calc price [changes]
                  Join ANTI on channel = device [changes; state: all rows of both sides, grows with every row of plain]
                    Scan plain: auction, bidder, price, channel, datetime [append-only]
                    Scan device: device, site, limit_c [changes]
                """);
        leaves(filter(join, missing), new UseAntiJoin());
        Expression nullSite = test("is_null", column(join, "site"));
        leaves(Nodes.calc(join, Optional.of(nullSite), List.of(column(join, "price"))), new UseAntiJoin());
    }

    @Test
    void allTogetherReachAnEndOnDeepPlans() {
        PlanNode plan = PLAIN;
        for (int i = 0; i < 30; i++) {
            plan = filter(Nodes.union(List.of(plan, plain())), test("gt", PRICE, number(i)));
        }
        PlanNode simplified = new Simplification(SimplifyTest::fold).apply(plan);
        assertEquals(plan.schema(), simplified.schema());
    }
}
