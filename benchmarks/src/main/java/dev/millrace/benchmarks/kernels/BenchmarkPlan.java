package dev.millrace.benchmarks.kernels;

import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.JoinTime;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.WindowSpec;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** The plan nodes to measure, over the bids as they are: auction, bidder, price, channel, url, datetime, extra. */
public enum BenchmarkPlan {
    /** {@code SELECT auction, price WHERE price > 10,000,000 AND auction % 123 = 0}. */
    FILTER {
        @Override
        PlanNode node(PlanNode bids) {
            return filter(bids, AUCTION, PRICE);
        }
    },

    /** The same without a column: which rows pass, and how many. */
    FILTER_ALONE {
        @Override
        PlanNode node(PlanNode bids) {
            return filter(bids);
        }
    },

    /** {@code SELECT price * .908}, in double precision. */
    PROJECTION {
        @Override
        PlanNode node(PlanNode bids) {
            Expression price = new Expression.Cast(column(PRICE), DataType.DOUBLE);
            Expression product =
                    call("multiply", DataType.DOUBLE, price, new Expression.Literal(0.908, DataType.DOUBLE));
            return new PlanNode.Calc(
                    bids, Optional.empty(), List.of(product), Schema.of(new Field("price", DataType.DOUBLE, false)));
        }
    },

    /** {@code count(*), sum(price), max(price) GROUP BY auction}: some ten thousand groups, changes emitted at the end. */
    GROUP_BY_NUMBER {
        @Override
        PlanNode node(PlanNode bids) {
            return aggregate(bids, AUCTION);
        }
    },

    /** The same by channel: ten thousand texts of up to 12 bytes. */
    GROUP_BY_TEXT {
        @Override
        PlanNode node(PlanNode bids) {
            return aggregate(bids, CHANNEL);
        }
    },

    /** The same without an epoch's end, so that nothing is emitted. */
    GROUP_BY_TEXT_ALONE {
        @Override
        PlanNode node(PlanNode bids) {
            return aggregate(bids, CHANNEL);
        }

        @Override
        boolean endsEpochs() {
            return false;
        }
    },

    /** {@code count(*), sum(price), max(price)} by auction and second; windows stay open. */
    TUMBLE_COUNT_SUM_MAX {
        @Override
        PlanNode node(PlanNode bids) {
            return windows(bids, new WindowSpec.Tumble(1_000_000), List.of(COUNT, SUM, MAX));
        }
    },

    /** The same for a thousand equally frequent keys, in windows of ten seconds. */
    TUMBLE_1K_KEYS {
        @Override
        PlanNode node(PlanNode bids) {
            return windows(bids, new WindowSpec.Tumble(10_000_000), List.of(COUNT, SUM, MAX));
        }

        @Override
        int keys() {
            return 1_000;
        }
    },

    /** The same for a hundred thousand. */
    TUMBLE_100K_KEYS {
        @Override
        PlanNode node(PlanNode bids) {
            return windows(bids, new WindowSpec.Tumble(10_000_000), List.of(COUNT, SUM, MAX));
        }

        @Override
        int keys() {
            return 100_000;
        }
    },

    /** {@code count(*)} by auction, ten seconds every two. */
    HOP_COUNT {
        @Override
        PlanNode node(PlanNode bids) {
            return windows(bids, new WindowSpec.Hop(2_000_000, 10_000_000), List.of(COUNT));
        }
    },

    /**
     * {@code WHERE auction = dev AND price > lim} for a hundred thousand queries of a template, one of each auction; each bid concerns one, and
     * none wants it.
     */
    LOOKUP_100K_QUERIES {
        @Override
        PlanNode node(PlanNode bids) {
            return lookup(bids);
        }

        @Override
        int keys() {
            return 100_000;
        }

        @Override
        int queries() {
            return 100_000;
        }
    },

    /** The same with a hundred queries of each of a thousand auctions. */
    LOOKUP_100K_QUERIES_1K_KEYS {
        @Override
        PlanNode node(PlanNode bids) {
            return lookup(bids);
        }

        @Override
        int keys() {
            return 1_000;
        }

        @Override
        int queries() {
            return 100_000;
        }
    };

    /** More than any bid's price. */
    static final long LIMIT = 1L << 40;

    /** The column that numbers are grouped by. */
    static final int AUCTION = 0;

    private static final int PRICE = 2;
    private static final int CHANNEL = 3;
    private static final int DATETIME = 5;
    private static final AggregateCall COUNT = aggregate(Function.COUNT, List.of(), DataType.BIGINT);
    private static final AggregateCall SUM = aggregate(Function.SUM, List.of(PRICE), DataType.numeric(38, 0));
    private static final AggregateCall MAX = aggregate(Function.MAX, List.of(PRICE), DataType.BIGINT);

    abstract PlanNode node(PlanNode bids);

    /** How many equally frequent keys take the place of auctions; 0 for the auctions as they are. */
    int keys() {
        return 0;
    }

    /** How many queries a template has: rows of an auction and a limit of {@link #LIMIT} and more; 0 for other plans. */
    int queries() {
        return 0;
    }

    /** Whether an epoch ends behind the rows. */
    boolean endsEpochs() {
        return true;
    }

    private static Expression column(int index) {
        return new Expression.Column(index, DataType.BIGINT, false);
    }

    private static Expression literal(long value) {
        return new Expression.Literal(value, DataType.BIGINT);
    }

    private static Expression call(String function, DataType type, Expression... arguments) {
        return new Expression.Call(function, List.of(arguments), type, false);
    }

    private static PlanNode filter(PlanNode bids, int... columns) {
        Expression multiple = call("mod", DataType.BIGINT, column(AUCTION), literal(123));
        Expression condition = call(
                "and",
                DataType.BOOLEAN,
                call("gt", DataType.BOOLEAN, column(PRICE), literal(10_000_000)),
                call("eq", DataType.BOOLEAN, multiple, literal(0)));
        List<Integer> chosen = Arrays.stream(columns).boxed().toList();
        return new PlanNode.Calc(
                bids,
                Optional.of(condition),
                chosen.stream().map(BenchmarkPlan::column).toList(),
                bids.schema().select(chosen));
    }

    private static AggregateCall aggregate(Function function, List<Integer> arguments, DataType type) {
        return new AggregateCall(function, arguments, false, OptionalInt.empty(), List.of(), List.of(), type);
    }

    private static PlanNode aggregate(PlanNode bids, int key) {
        List<AggregateCall> calls = List.of(COUNT, SUM, MAX);
        Schema schema = bids.schema().select(List.of(key)).concat(results(calls));
        return new PlanNode.Aggregate(bids, List.of(key), calls, Phase.SINGLE, true, schema);
    }

    private static PlanNode windows(PlanNode bids, WindowSpec window, List<AggregateCall> calls) {
        Schema bounds = Schema.of(
                new Field("window_start", DataType.TIMESTAMP, false),
                new Field("window_end", DataType.TIMESTAMP, false));
        Schema schema =
                bids.schema().select(List.of(AUCTION)).concat(results(calls)).concat(bounds);
        return new PlanNode.WindowAggregate(bids, DATETIME, window, List.of(AUCTION), calls, Phase.SINGLE, schema);
    }

    private static PlanNode lookup(PlanNode bids) {
        Schema used = bids.schema().select(List.of(AUCTION, 1, PRICE));
        Schema parameters =
                Schema.of(new Field("dev", DataType.BIGINT, false), new Field("lim", DataType.BIGINT, false));
        return new PlanNode.Join(
                new PlanNode.Scan("bid", List.of(AUCTION, 1, PRICE), List.of(), used),
                new PlanNode.Scan("queries", List.of(0, 1), List.of(), parameters),
                PlanNode.JoinKind.INNER,
                List.of(AUCTION),
                List.of(0),
                Optional.of(call("gt", DataType.BOOLEAN, column(PRICE), column(used.size() + 1))),
                Optional.of(new JoinTime.Current()),
                used.concat(parameters));
    }

    private static Schema results(List<AggregateCall> calls) {
        return new Schema(calls.stream()
                .map(call -> new Field(call.function().name(), call.type(), call.nullable()))
                .toList());
    }
}
