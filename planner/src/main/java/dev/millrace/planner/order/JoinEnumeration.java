package dev.millrace.planner.order;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.planner.order.JoinTree.Pair;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the cheapest order. Up to ten members all orders are looked at, subset by subset (G. Moerkotte and T. Neumann,
 * "Analysis of Two Existing and One New Dynamic Programming Algorithm for the Generation of Optimal Bushy Join Trees", VLDB
 * 2006); beyond that the two parts are joined next that give the fewest rows (L. Fegaras, "A New Heuristic for Optimizing
 * Large Queries", DEXA 1998). What shares no condition is joined last, unless it is tiny.
 *
 * <p>A join costs the rows it reads and gives, which is what a finite query works through. That of a standing query costs
 * what it reads once more: it keeps it.
 */
final class JoinEnumeration {
    private static final int ALL_ORDERS = 10;
    private static final double TINY = 1000; // rows of a cross product

    private final JoinGraph graph;
    private final JoinSizes sizes;
    private final List<JoinTree> units;
    private final double perRowRead;
    private final Interrupt interrupt = Interrupt.current();

    /**
     * @param units what is joined: members, and trees of some that stay as they are
     * @param keeps whether joins keep what they read, as those of a standing query
     */
    JoinEnumeration(JoinGraph graph, JoinSizes sizes, List<JoinTree> units, boolean keeps) {
        this.graph = graph;
        this.sizes = sizes;
        this.units = units;
        this.perRowRead = keeps ? 2 : 1;
    }

    JoinTree best() {
        return units.size() <= ALL_ORDERS ? ofAllOrders() : greedy();
    }

    /** What a tree costs, but for reading the members, which each tree does. */
    double cost(JoinTree tree) {
        if (!(tree instanceof Pair pair)) {
            return 0;
        }
        return cost(pair.left())
                + cost(pair.right())
                + ofJoin(pair.left().members(), pair.right().members());
    }

    private double ofJoin(long left, long right) {
        return perRowRead * (sizes.of(left) + input(right)) + sizes.of(left | right);
    }

    private double input(long members) {
        return Long.bitCount(members) == 1 ? sizes.ofMember(Long.numberOfTrailingZeros(members)) : sizes.of(members);
    }

    /** Whether a tree joins parts that share no condition. */
    boolean crosses(JoinTree tree) {
        return tree instanceof Pair pair
                && (!isConnected(pair.left().members(), pair.right().members())
                        || crosses(pair.left())
                        || crosses(pair.right()));
    }

    private JoinTree ofAllOrders() {
        JoinTree tree = ofAllOrders(false);
        return tree == null ? ofAllOrders(true) : tree;
    }

    /** Null when that needs cross products and they are not allowed. */
    private JoinTree ofAllOrders(boolean cross) {
        int all = (1 << units.size()) - 1;
        JoinTree[] trees = new JoinTree[all + 1];
        double[] costs = new double[all + 1];
        for (int some = 1; some <= all; some++) {
            interrupt.check();
            if (Integer.bitCount(some) == 1) {
                trees[some] = units.get(Integer.numberOfTrailingZeros(some));
                continue;
            }
            costs[some] = Double.MAX_VALUE;
            for (int left = (some - 1) & some; left > 0; left = (left - 1) & some) {
                int right = some & ~left;
                if (trees[left] == null
                        || trees[right] == null
                        || !mayJoin(trees[left].members(), trees[right].members(), cross)) {
                    continue;
                }
                double cost = costs[left] + costs[right] + ofJoin(trees[left].members(), trees[right].members());
                if (cost < costs[some]) {
                    costs[some] = cost;
                    trees[some] = new Pair(trees[left], trees[right]);
                }
            }
        }
        return trees[all];
    }

    /** Each pair once: a reducer on the right, else the first member on the left. */
    private boolean mayJoin(long left, long right, boolean cross) {
        if (isReducer(right)) {
            return isReady(left, right);
        }
        if (isReducer(left) || Long.numberOfTrailingZeros(left) > Long.numberOfTrailingZeros(right)) {
            return false;
        }
        return cross || isConnected(left, right) || sizes.of(left) * sizes.of(right) <= TINY;
    }

    private boolean isReducer(long members) {
        return Long.bitCount(members) == 1
                && graph.member(Long.numberOfTrailingZeros(members)).reduces();
    }

    private boolean isReady(long left, long reducer) {
        long needs = graph.member(Long.numberOfTrailingZeros(reducer)).needs();
        return (needs & ~left) == 0 && !isReducer(left);
    }

    private boolean isConnected(long left, long right) {
        if (isReducer(right)) {
            return isReady(left, right);
        }
        for (JoinGraph.EqualColumns equal : graph.classes()) {
            if ((equal.members() & left) != 0 && (equal.members() & right) != 0) {
                return true;
            }
        }
        for (JoinGraph.Predicate predicate : graph.predicates()) {
            if ((predicate.members() & left) != 0
                    && (predicate.members() & right) != 0
                    && (predicate.members() & ~(left | right)) == 0) {
                return true;
            }
        }
        return false;
    }

    private JoinTree greedy() {
        List<JoinTree> parts = new ArrayList<>(units);
        while (parts.size() > 1) {
            Pair best = null;
            double least = Double.MAX_VALUE;
            for (boolean cross = false; best == null; cross = true) {
                for (JoinTree left : parts) {
                    for (JoinTree right : parts) {
                        interrupt.check();
                        if (left == right || !mayJoin(left.members(), right.members(), cross)) {
                            continue;
                        }
                        double rows = sizes.of(left.members() | right.members());
                        if (rows < least) {
                            least = rows;
                            best = new Pair(left, right);
                        }
                    }
                }
            }
            parts.remove(best.left());
            parts.remove(best.right());
            parts.add(best);
        }
        return parts.get(0);
    }
}
