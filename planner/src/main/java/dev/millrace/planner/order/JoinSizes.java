package dev.millrace.planner.order;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.estimate.Cardinality;
import dev.millrace.planner.fact.UniqueKey;
import dev.millrace.planner.order.JoinGraph.EqualColumns;
import dev.millrace.planner.order.JoinGraph.Member;
import dev.millrace.planner.tree.Nodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * How many rows parts of a graph give: the same for each order in which a part is joined. A class of equal columns passes one
 * in so many as each of them but the poorest has values. A key of several columns that meets one other member has no more
 * combinations than rows.
 */
final class JoinSizes {
    private static final double PREDICATE = 1.0 / 3;
    private static final double MOST = 1e250; // rows of anything: sums and products of some of them are numbers still

    private final JoinGraph graph;
    private final double[] rows;
    private final List<Map<Integer, Double>> values = new ArrayList<>(); // of each class, per member
    private final List<KeyOfClasses> keys = new ArrayList<>();
    private final Map<Integer, Double> kept = new HashMap<>(); // of reducers
    private final Map<Long, Double> known = new HashMap<>();

    /** A member's unique key whose columns are of these classes, and by how much they overrate its combinations. */
    private record KeyOfClasses(int member, List<EqualColumns> classes, double tooMany) {}

    JoinSizes(JoinGraph graph, Cardinality cardinality, UniqueKey uniqueKeys) {
        this.graph = graph;
        this.rows = new double[graph.members().size()];
        PlanNode[] filtered = new PlanNode[rows.length];
        for (int member = 0; member < rows.length; member++) {
            filtered[member] = graph.filtered(member);
            rows[member] = bounded(cardinality.rows(filtered[member]));
        }
        for (EqualColumns equal : graph.classes()) {
            values.add(values(equal, filtered, cardinality));
        }
        for (int member = 0; member < rows.length; member++) {
            Optional<List<Integer>> key = graph.member(member).reduces()
                    ? Optional.empty()
                    : uniqueKeys.of(graph.member(member).node());
            if (key.isPresent() && key.get().size() > 1) {
                addKey(member, key.get());
            }
        }
        reductions(cardinality);
    }

    /**
     * How many values the columns of a class have in each member. Where it is known of some, it is no guess of the others: those
     * refer to them.
     */
    private Map<Integer, Double> values(EqualColumns equal, PlanNode[] filtered, Cardinality cardinality) {
        double known = 0;
        for (int column : equal.columns()) {
            int member = graph.memberOf(column);
            int own = column - graph.member(member).first();
            if (cardinality.isDistinctKnown(graph.member(member).node(), own)) {
                known = Math.max(
                        known, cardinality.distinct(graph.member(member).node(), own));
            }
        }
        Map<Integer, Double> ofMembers = new HashMap<>();
        for (int column : equal.columns()) {
            int member = graph.memberOf(column);
            int own = column - graph.member(member).first();
            boolean guessed = known > 0
                    && !cardinality.isDistinctKnown(graph.member(member).node(), own);
            double distinct = guessed ? Math.min(known, rows[member]) : cardinality.distinct(filtered[member], own);
            ofMembers.merge(member, bounded(distinct), Math::max);
        }
        return ofMembers;
    }

    private void reductions(Cardinality cardinality) {
        for (int number = 0; number < rows.length; number++) {
            Member member = graph.member(number);
            if (member.reduces()) {
                double part = kept(member, cardinality);
                kept.put(number, part >= 0 && part <= 1 ? part : 1);
            }
        }
    }

    /** By its join with all that it needs beside each other. */
    private double kept(Member reducer, Cardinality cardinality) {
        int[] positions = new int[graph.width()];
        Arrays.fill(positions, -1);
        PlanNode left = null;
        for (int number = 0; number < rows.length; number++) {
            if ((reducer.needs() >> number & 1) == 1) {
                Member member = graph.member(number);
                int at = left == null ? 0 : left.schema().size();
                for (int column = 0; column < member.node().schema().size(); column++) {
                    positions[member.first() + column] = at + column;
                }
                left = left == null
                        ? member.node()
                        : Nodes.join(
                                left,
                                member.node(),
                                PlanNode.JoinKind.INNER,
                                List.of(),
                                List.of(),
                                Optional.empty(),
                                Optional.empty());
            }
        }
        if (left == null) {
            return 1;
        }
        for (int column = 0; column < reducer.node().schema().size(); column++) {
            positions[reducer.first() + column] = left.schema().size() + column;
        }
        return cardinality.kept(JoinAssembly.reduced(left, reducer, positions));
    }

    private void addKey(int member, List<Integer> key) {
        List<EqualColumns> ofKey = new ArrayList<>();
        double combinations = 1;
        for (int column : key) {
            int number = graph.member(member).first() + column;
            for (int i = 0; i < graph.classes().size(); i++) {
                if (graph.classes().get(i).columns().contains(number)) {
                    ofKey.add(graph.classes().get(i));
                    combinations *= Objects.requireNonNull(values.get(i).get(member));
                }
            }
        }
        if (ofKey.size() == key.size() && combinations > rows[member]) {
            keys.add(new KeyOfClasses(member, ofKey, combinations / rows[member]));
        }
    }

    /** Guesses about guesses, hundreds of joins deep, may be beyond all numbers. */
    private static double bounded(double size) {
        return size < MOST ? size : MOST;
    }

    /** Rows of a member that pass its filters. */
    double ofMember(int member) {
        return rows[member];
    }

    /** Rows of some members joined, all conditions that can be asked of them asked. */
    double of(long members) {
        return known.computeIfAbsent(members, this::estimate);
    }

    private double estimate(long members) {
        double size =
                0; // its logarithm: dozens of huge guesses multiplied and divided are beyond all numbers meanwhile
        for (int member = 0; member < rows.length; member++) {
            if ((members >> member & 1) == 1) {
                size += Math.log(graph.member(member).reduces() ? kept.get(member) : rows[member]);
            }
        }
        for (int i = 0; i < graph.classes().size(); i++) {
            if (Long.bitCount(graph.classes().get(i).members() & members) > 1) {
                size += passing(values.get(i), members);
            }
        }
        for (KeyOfClasses key : keys) {
            if ((members >> key.member & 1) == 1 && meetsOne(key, members)) {
                size += Math.log(key.tooMany);
            }
        }
        for (JoinGraph.Predicate predicate : graph.predicates()) {
            if ((predicate.members() & ~members) == 0) {
                size += Math.log(selectivity(predicate.condition()));
            }
        }
        return Math.max(1, bounded(Math.exp(size)));
    }

    private static double selectivity(Expression condition) {
        return condition instanceof Expression.Call call && call.function().equals("eq") ? 0.1 : PREDICATE;
    }

    /** The logarithm of the part that a class lets pass. */
    private static double passing(Map<Integer, Double> values, long members) {
        double product = 0;
        double least = Double.MAX_VALUE;
        for (Map.Entry<Integer, Double> entry : values.entrySet()) {
            if ((members >> entry.getKey() & 1) == 1) {
                product += Math.log(entry.getValue());
                least = Math.min(least, Math.log(entry.getValue()));
            }
        }
        return least - product;
    }

    /** Whether one other member meets all columns of the key. */
    private static boolean meetsOne(KeyOfClasses key, long members) {
        long others = members & ~(1L << key.member);
        for (EqualColumns equal : key.classes) {
            others &= equal.members();
        }
        return others != 0;
    }
}
