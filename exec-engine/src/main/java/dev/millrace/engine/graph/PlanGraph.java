package dev.millrace.engine.graph;

import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Aggregate;
import dev.millrace.plan.node.PlanNode.Calc;
import dev.millrace.plan.node.PlanNode.Distribution;
import dev.millrace.plan.node.PlanNode.Exchange;
import dev.millrace.plan.node.PlanNode.Join;
import dev.millrace.plan.node.PlanNode.Phase;
import dev.millrace.plan.node.PlanNode.Scan;
import dev.millrace.plan.node.PlanNode.Union;
import dev.millrace.plan.node.PlanNode.Values;
import dev.millrace.plan.node.PlanNode.Watermark;
import dev.millrace.plan.node.PlanNode.WindowAggregate;
import dev.millrace.plan.node.PlanNode.WindowAssign;
import dev.millrace.plan.node.PlanNode.WindowExtreme;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A plan as a graph in which equal subplans are one node, cut at its exchanges into pipelines.
 *
 * <pre>
 *   Scan - Calc - Exchange | Aggregate - Exchange(single) | output
 *      pipeline 0          |   pipeline 1                 | pipeline 2
 * </pre>
 *
 * The last exchange is no cut either where the output takes rows from several tasks.
 *
 * A pipeline is parallel if all that feeds it is: exchanges that spread rows, or replayable streams when every node above
 * them works row by row. An exchange from one instance to one is no cut, so that with one worker a query is one task.
 */
public final class PlanGraph {
    /** One node; {@code id}s grow from the scans to the root. */
    public static final class Node {
        private final int id;
        private volatile PlanNode plan; // written by who renames what it reads, read by all
        private final List<Node> inputs;
        private boolean cut;
        private int pipeline;

        Node(int id, PlanNode plan, List<Node> inputs) {
            this.id = id;
            this.plan = plan;
            this.inputs = List.copyOf(inputs);
        }

        public int id() {
            return id;
        }

        public PlanNode plan() {
            return plan;
        }

        /** What the plan reads has another name, and it is the same but for that. */
        public void rename(PlanNode named) {
            assert named.getClass() == plan.getClass() : named + " in the place of " + plan;
            plan = named;
        }

        public List<Node> inputs() {
            return inputs;
        }

        /** Whether it is an exchange between two pipelines: it is in the second itself. */
        public boolean isCut() {
            return cut;
        }

        public int pipeline() {
            return pipeline;
        }
    }

    private final List<Node> nodes = new ArrayList<>();
    private final Map<PlanNode, Node> visited = new IdentityHashMap<>();
    private final Map<Likeness, Node> byLikeness = new HashMap<>();
    private final List<Boolean> parallel = new ArrayList<>();
    private final boolean several; // workers
    private final Node root;

    /**
     * @param replayable whether a scan can have several readers
     * @param severalEnds whether the last pipeline may be parallel
     */
    public PlanGraph(PlanNode plan, int workers, Predicate<Scan> replayable, boolean severalEnds) {
        several = workers > 1;
        root = add(new Exchange(plan, new Distribution.Single()));
        for (Node node : nodes) {
            node.cut = several && node.plan instanceof Exchange && !(node == root && severalEnds);
        }
        number(replayable);
        for (Node node : nodes) {
            node.cut = node.cut && (isParallel(node.pipeline) || isParallel(node.inputs.get(0).pipeline));
        }
        number(replayable);
        if (pipelines().stream().anyMatch(this::reachesItself)) {
            // A subplan goes to the same operator both directly and through an exchange: a task would wait for itself.
            nodes.forEach(node -> node.cut = false);
            number(scan -> false);
        }
    }

    private void number(Predicate<Scan> replayable) {
        numberPipelines();
        findParallel(replayable);
    }

    /** Whether what leaves a pipeline by an exchange may come back to it. */
    private boolean reachesItself(int pipeline) {
        BitSet reached = new BitSet();
        Deque<Integer> next = new ArrayDeque<>(List.of(pipeline));
        while (!next.isEmpty()) {
            int from = next.pop();
            for (Node node : nodes) {
                if (node.cut && node.inputs.get(0).pipeline == from && !reached.get(node.pipeline)) {
                    reached.set(node.pipeline);
                    next.push(node.pipeline);
                }
            }
        }
        return reached.get(pipeline);
    }

    private Node add(PlanNode plan) {
        Node known = visited.get(plan);
        if (known != null) {
            return known;
        }
        Interrupt.checkCurrent();
        List<Node> inputs = new ArrayList<>();
        for (PlanNode input : plan.inputs()) {
            inputs.add(add(input));
        }
        Node node = byLikeness.computeIfAbsent(new Likeness(inputs, plan), none -> {
            Node added = new Node(nodes.size(), plan, inputs);
            nodes.add(added);
            return added;
        });
        visited.put(plan, node);
        return node;
    }

    /**
     * What two nodes have in common when they are equal. Their inputs are compared first, and as nodes, since plans that differ
     * only far below would be compared down to there at each level.
     */
    private record Likeness(List<Node> inputs, PlanNode plan) {}

    /** In order: inputs before those who read them. */
    public List<Node> nodes() {
        return nodes;
    }

    public Node root() {
        return root;
    }

    public boolean isParallel(int pipeline) {
        return parallel.get(pipeline);
    }

    public List<Integer> pipelines() {
        return nodes.stream().map(node -> node.pipeline).distinct().sorted().toList();
    }

    public List<Node> nodesOf(int pipeline) {
        return nodes.stream().filter(node -> node.pipeline == pipeline).toList();
    }

    /** The scans whose rows a join has meet by the event time of both sides: which keeps those of one side until the other has come as far. */
    public Set<Node> scansThatMeetByTime() {
        Set<Node> found = new HashSet<>();
        for (int i = nodes.size() - 1; i >= 0; i--) { // who reads comes after what is read
            Node node = nodes.get(i);
            boolean meets = node.plan instanceof Join join
                    && join.time()
                            .filter(time -> time.hasTime(0) && time.hasTime(1))
                            .isPresent();
            if (meets || found.contains(node)) {
                found.addAll(node.inputs);
            }
        }
        found.removeIf(node -> !(node.plan instanceof Scan));
        return found;
    }

    /** Gives connected nodes one number, numbers without gaps. */
    private void numberPipelines() {
        int[] group = new int[nodes.size()];
        for (Node node : nodes) {
            group[node.id] = node.id;
        }
        for (Node node : nodes) {
            for (Node input : node.inputs) {
                if (!node.cut) {
                    int from = group[input.id];
                    int to = group[node.id];
                    for (int i = 0; i < group.length; i++) {
                        group[i] = group[i] == from ? to : group[i];
                    }
                }
            }
        }
        Map<Integer, Integer> numbers = new HashMap<>();
        for (Node node : nodes) {
            node.pipeline = numbers.computeIfAbsent(group[node.id], any -> numbers.size());
        }
    }

    private void findParallel(Predicate<Scan> replayable) {
        parallel.clear();
        for (int pipeline : pipelines()) {
            boolean spread = false;
            boolean single = false;
            boolean scans = false;
            boolean byRow = true;
            for (Node node : nodesOf(pipeline)) {
                if (node.cut) {
                    boolean toOne = ((Exchange) node.plan).distribution() instanceof Distribution.Single;
                    single |= toOne;
                    spread |= !toOne;
                } else if (node.plan instanceof Scan scan) {
                    scans = true;
                    spread |= replayable.test(scan);
                } else if (node.plan instanceof Values) {
                    scans = true;
                } else {
                    byRow &= worksByRow(node.plan);
                }
            }
            parallel.add(several && spread && !single && (byRow || !scans));
        }
    }

    /** Whether instances over any split of the rows give the same answer together. */
    private static boolean worksByRow(PlanNode plan) {
        return plan instanceof Calc
                || plan instanceof Watermark
                || plan instanceof WindowAssign
                || plan instanceof PlanNode.Expand
                || plan instanceof Union
                || plan instanceof Exchange
                || plan instanceof WindowExtreme extreme && extreme.phase() == Phase.PARTIAL
                || plan instanceof Aggregate aggregate && aggregate.phase() == Phase.PARTIAL
                || plan instanceof WindowAggregate windows && windows.phase() == Phase.PARTIAL;
    }
}
