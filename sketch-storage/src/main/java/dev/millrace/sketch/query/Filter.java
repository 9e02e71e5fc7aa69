package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import java.util.ArrayList;
import java.util.List;

/**
 * Conditions made ready for the rows of one sketch: what depends on one feature alone is computed once for each of its ranks.
 * Truth has three values, each in what the sketch shows, for certain and possibly.
 */
final class Filter {
    private final Sketch sketch;
    private final List<Integer> features; // asked about, in the order of the ranks that are handed in
    private final List<Condition.Time> times = new ArrayList<>();
    private final Node root;

    /** Part of the condition: from ranks by position and truths by time to a truth. */
    private interface Node {
        int truth(int[] ranks, byte[] times);
    }

    private record Table(int position, byte[] truths) implements Node {
        @Override
        public int truth(int[] ranks, byte[] times) {
            return truths[ranks[position]];
        }
    }

    private record Timed(int index) implements Node {
        @Override
        public int truth(int[] ranks, byte[] times) {
            return times[index];
        }
    }

    private record All(Node[] nodes) implements Node {
        @Override
        public int truth(int[] ranks, byte[] times) {
            int holds = Condition.ALL;
            int fails = 0;
            for (Node node : nodes) {
                int truth = node.truth(ranks, times);
                holds &= truth;
                fails |= truth;
            }
            return holds | fails & Condition.ALL << Condition.FALSE;
        }
    }

    private record Any(Node[] nodes) implements Node {
        @Override
        public int truth(int[] ranks, byte[] times) {
            int holds = 0;
            int fails = Condition.ALL << Condition.FALSE;
            for (Node node : nodes) {
                int truth = node.truth(ranks, times);
                holds |= truth;
                fails &= truth;
            }
            return holds & Condition.ALL | fails;
        }
    }

    private record Opposite(Node node) implements Node {
        @Override
        public int truth(int[] ranks, byte[] times) {
            int truth = node.truth(ranks, times);
            return truth >> Condition.FALSE & Condition.ALL | (truth & Condition.ALL) << Condition.FALSE;
        }
    }

    /**
     * Makes conditions ready, all of which are to be met.
     *
     * @param features by position; those that conditions need and are not there yet are added
     */
    Filter(Sketch sketch, List<Condition> conditions, List<Integer> features) {
        this.sketch = sketch;
        this.features = features;
        List<Node> all = new ArrayList<>();
        for (Condition condition : conditions) {
            all.add(node(condition));
        }
        root = conjunction(all);
    }

    /** By rank of the one feature that all conditions are on, the bits of their being true and false; empty without conditions. */
    static byte[] truths(Sketch sketch, List<Condition> conditions, int feature) {
        if (conditions.isEmpty()) {
            return new byte[0];
        }
        if (conditions.size() == 1 && conditions.get(0) instanceof Condition.OfFeature ofFeature) {
            return ofFeature.truths(sketch, feature);
        }
        return ((Table) new Filter(sketch, conditions, new ArrayList<>(List.of(feature))).root).truths;
    }

    /** The conditions on time, in the order in which {@link #verdict} takes their truths. */
    List<Condition.Time> times() {
        return times;
    }

    boolean isEmpty() {
        return root instanceof All all && all.nodes.length == 0;
    }

    /** The bits of a row's meeting the conditions. */
    int verdict(int[] ranks, byte[] timeTruths) {
        return root.truth(ranks, timeTruths) & Condition.ALL;
    }

    private Node node(Condition condition) {
        if (condition instanceof Condition.OfFeature ofFeature) {
            int feature = sketch.schema().indexOf(ofFeature.feature());
            if (!features.contains(feature)) {
                features.add(feature);
            }
            return new Table(features.indexOf(feature), ofFeature.truths(sketch, feature));
        }
        if (condition instanceof Condition.Time time) {
            times.add(time);
            return new Timed(times.size() - 1);
        }
        if (condition instanceof Condition.Not not) {
            Node node = node(not.condition());
            return folded(new Opposite(node), List.of(node));
        }
        boolean any = condition instanceof Condition.Or;
        List<Node> nodes = new ArrayList<>();
        for (Condition part :
                any ? ((Condition.Or) condition).conditions() : ((Condition.And) condition).conditions()) {
            nodes.add(node(part));
        }
        return any ? folded(new Any(nodes.toArray(new Node[0])), nodes) : conjunction(nodes);
    }

    /** Of tables of the same feature one is made. */
    private Node conjunction(List<Node> nodes) {
        List<Node> kept = new ArrayList<>();
        for (Node node : nodes) {
            Node merged = node;
            for (int i = 0; i < kept.size(); i++) {
                if (node instanceof Table table
                        && kept.get(i) instanceof Table other
                        && other.position == table.position) {
                    merged = folded(new All(new Node[] {other, table}), List.of(other, table));
                    kept.remove(i);
                    break;
                }
            }
            kept.add(merged);
        }
        return kept.size() == 1 ? kept.get(0) : new All(kept.toArray(new Node[0]));
    }

    /** As a table, if it is made of nothing but tables of one feature. */
    private Node folded(Node node, List<Node> parts) {
        int position = -1;
        for (Node part : parts) {
            if (!(part instanceof Table table) || position >= 0 && table.position != position) {
                return node;
            }
            position = table.position;
        }
        if (position < 0) {
            return node;
        }
        byte[] truths = new byte[((Table) parts.get(0)).truths.length];
        int[] ranks = new int[position + 1];
        for (int rank = 0; rank < truths.length; rank++) {
            ranks[position] = rank;
            truths[rank] = (byte) node.truth(ranks, truths);
        }
        return new Table(position, truths);
    }
}
