package dev.millrace.scheduler.assignment;

import dev.millrace.scheduler.assignment.Step.Merge;
import dev.millrace.scheduler.assignment.Step.Move;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Which worker is the home of each member of each group. A member comes and goes in constant time, and is found by as many bits as its part has; there is
 * no list of members, only how many a group has. A group is placed when its first member comes, and forgotten with its last one.
 *
 * <p>Of one thread at a time. It is no part of what is durable: after a crash groups are placed anew, by the members that are known then.
 */
public final class GroupHomes {
    private static final class Group {
        private final Node root;
        private long members;

        Group(Node root) {
            this.root = root;
        }
    }

    /** A part, or what was split into two. */
    private static final class Node {
        private final GroupPart part;
        private int home; // of a leaf
        private LoadMeter meter = new LoadMeter(); // likewise
        private @Nullable Node zero; // both halves, or none
        private @Nullable Node one;

        Node(GroupPart part, int home) {
            this.part = part;
            this.home = home;
        }

        boolean isLeaf() {
            return zero == null;
        }

        Node half(int bit) {
            return Objects.requireNonNull(bit == 0 ? zero : one);
        }
    }

    private final int workers;
    private final IntUnaryOperator draw;
    private final Map<Long, Group> groups = new LinkedHashMap<>(); // in an order that a seed repeats

    /** @param draw from 0 to below its argument, each as likely */
    public GroupHomes(int workers, IntUnaryOperator draw) {
        if (workers < 1) {
            throw new IllegalArgumentException("no workers");
        }
        this.workers = workers;
        this.draw = draw;
    }

    /** How many groups have members. */
    public int groups() {
        return groups.size();
    }

    /** How many members a group has. */
    public long members(long group) {
        Group found = groups.get(group);
        return found == null ? 0 : found.members;
    }

    /**
     * One more member, that is not there yet.
     *
     * @param loads of each worker: a new group goes to one of the least loaded
     */
    public void add(long group, double[] loads) {
        Group of = groups.get(group);
        if (of == null) {
            of = new Group(new Node(GroupPart.whole(group), Placement.choose(loads, draw)));
            groups.put(group, of);
        }
        of.members++;
    }

    /** One member less, that was there. */
    public void remove(long group) {
        Group of = require(group);
        of.members--;
        if (of.members == 0) {
            groups.remove(group);
        }
    }

    private Group require(long group) {
        Group found = groups.get(group);
        if (found == null) {
            throw new IllegalArgumentException("group " + group + " has no members");
        }
        return found;
    }

    /** The part of a group that has a member. */
    public GroupPart partOf(long group, long member) {
        return leafOf(group, member).part;
    }

    /** The worker that has it. */
    public int homeOf(long group, long member) {
        return leafOf(group, member).home;
    }

    private Node leafOf(long group, long member) {
        Node node = require(group).root;
        int hash = GroupPart.hash(member);
        while (!node.isLeaf()) {
            node = node.half(node.part.bitOf(hash));
        }
        return node;
    }

    /** The home of a part; empty if there is no such part (any more). */
    public Optional<Integer> homeOf(GroupPart part) {
        return leaf(part).map(node -> node.home);
    }

    /** Where the load of a part is measured, which is there. */
    public LoadMeter meter(GroupPart part) {
        return leaf(part).orElseThrow().meter;
    }

    private Optional<Node> leaf(GroupPart part) {
        return find(part).filter(Node::isLeaf);
    }

    private Optional<Node> find(GroupPart part) {
        Group group = groups.get(part.group());
        if (group == null) {
            return Optional.empty();
        }
        Node node = group.root;
        for (int depth = part.depth() - 1; depth >= 0; depth--) {
            if (node.isLeaf()) {
                return Optional.empty();
            }
            node = node.half(part.prefix() >>> depth & 1);
        }
        return Optional.of(node);
    }

    /** All parts, group by group, and of a group in the order of their bits. A part has about as many members as any of its depth. */
    public List<PartLoad> parts() {
        List<PartLoad> parts = new ArrayList<>();
        groups.values().forEach(group -> addLeaves(group.root, group.members, parts));
        return parts;
    }

    private static void addLeaves(Node node, long members, List<PartLoad> parts) {
        if (node.isLeaf()) {
            parts.add(new PartLoad(node.part, node.home, node.meter.load(), members));
        } else {
            addLeaves(node.half(0), (members + 1) / 2, parts);
            addLeaves(node.half(1), (members + 1) / 2, parts);
        }
    }

    /** The load of each worker. */
    public double[] loads() {
        return Rebalancing.loads(workers, parts());
    }

    /** So long was measured. */
    public void endPeriod(long nanos) {
        groups.values().forEach(group -> endPeriod(group.root, nanos));
    }

    private static void endPeriod(Node node, long nanos) {
        if (node.isLeaf()) {
            node.meter.endPeriod(nanos);
        } else {
            endPeriod(node.half(0), nanos);
            endPeriod(node.half(1), nanos);
        }
    }

    /**
     * Carries out a step, unless what it is about has gone since it was thought of, as a group whose last member went. Returns whether it did.
     *
     * <p>Who has queues moves what waits with it: when a part is split each half has what is for its members, in the order in which it came.
     */
    public boolean apply(Step step) {
        Node node = find(step.part()).orElse(null);
        if (node == null) {
            return false;
        }
        if (step instanceof Merge merge) {
            return merge(node, merge.worker());
        }
        if (!node.isLeaf()) {
            return false;
        }
        if (step instanceof Move move) {
            node.home = required(move.to());
        } else {
            node.zero = new Node(node.part.half(0), node.home);
            node.one = new Node(node.part.half(1), node.home);
            node.zero.meter = node.meter.half();
            node.one.meter = node.meter.half();
        }
        return true;
    }

    private boolean merge(Node node, int home) {
        if (node.isLeaf() || !node.half(0).isLeaf() || !node.half(1).isLeaf()) {
            return false;
        }
        node.home = required(home);
        node.meter = node.half(0).meter.plus(node.half(1).meter);
        node.zero = null;
        node.one = null;
        return true;
    }

    private int required(int worker) {
        if (worker < 0 || worker >= workers) {
            throw new IllegalArgumentException("there is no worker " + worker + " of " + workers);
        }
        return worker;
    }
}
