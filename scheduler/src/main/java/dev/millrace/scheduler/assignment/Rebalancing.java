package dev.millrace.scheduler.assignment;

import dev.millrace.scheduler.assignment.Step.Merge;
import dev.millrace.scheduler.assignment.Step.Move;
import dev.millrace.scheduler.assignment.Step.Split;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * What is to be moved, split and merged, given all loads (Pluto, section 3.3.4). A pure function.
 *
 * <pre>
 *   a worker above beta is overloaded, one below alpha underloaded; between them it takes no part, so that nothing swings
 *   of each overloaded worker, until it is below beta:
 *     its greatest part goes to an underloaded worker that stays below beta with it
 *     there is none: the part is split, and its halves are tried
 *   two halves that are side by side again are merged where the worker that has them is below alpha with both
 * </pre>
 *
 * <p>Of the underloaded the one with the least load is taken, where the paper says any. A part of one member cannot be split: it stays where it is unless
 * a worker can take it whole.
 *
 * @param alpha below it a worker is underloaded
 * @param beta above it a worker is overloaded
 */
public record Rebalancing(double alpha, double beta) {
    /** The paper's. */
    public static final Rebalancing PLUTO = new Rebalancing(.8, .95);

    /** Of one call: what is left is for the next, whose loads are measured. */
    static final int MOST_STEPS = 10_000;

    private static final Comparator<PartLoad> GREATEST_FIRST = Comparator.comparingDouble(PartLoad::load)
            .reversed()
            .thenComparingLong(each -> each.part().group())
            .thenComparingInt(each -> each.part().depth())
            .thenComparingInt(each -> each.part().prefix());

    public Rebalancing {
        if (!(alpha > 0 && alpha < beta)) {
            throw new IllegalArgumentException("0 < alpha < beta: " + alpha + ", " + beta);
        }
    }

    /**
     * The steps, in their order.
     *
     * @param workers how many there are
     * @param parts all of them
     */
    public List<Step> steps(int workers, List<PartLoad> parts) {
        double[] loads = loads(workers, parts);
        List<Step> steps = new ArrayList<>();
        boolean overloaded = false;
        for (int worker = 0; worker < workers; worker++) {
            if (loads[worker] > beta) {
                overloaded = true;
                relieve(worker, loads, parts, steps);
            }
        }
        if (!overloaded) {
            merge(loads, parts, steps);
        }
        return steps;
    }

    /** The load of each worker: the sum of its parts. */
    public static double[] loads(int workers, List<PartLoad> parts) {
        double[] loads = new double[workers];
        parts.forEach(part -> loads[part.worker()] += part.load());
        return loads;
    }

    private void relieve(int worker, double[] loads, List<PartLoad> parts, List<Step> steps) {
        PriorityQueue<PartLoad> greatest = new PriorityQueue<>(GREATEST_FIRST);
        parts.stream()
                .filter(part -> part.worker() == worker && part.load() > 0)
                .forEach(greatest::add);
        while (loads[worker] >= beta && !greatest.isEmpty() && steps.size() < MOST_STEPS) {
            int to = leastLoaded(loads);
            if (loads[to] >= alpha) {
                return; // nobody is underloaded
            }
            PartLoad part = greatest.remove();
            if (loads[to] + part.load() < beta) {
                steps.add(new Move(part.part(), worker, to));
                loads[worker] -= part.load();
                loads[to] += part.load();
            } else if (part.members() > 1 && part.part().canSplit()) {
                steps.add(new Split(part.part()));
                greatest.add(half(part, 0));
                greatest.add(half(part, 1));
            }
        }
    }

    private static PartLoad half(PartLoad of, int bit) {
        long members = bit == 0 ? (of.members() + 1) / 2 : of.members() / 2;
        return new PartLoad(of.part().half(bit), of.worker(), of.load() / 2, members);
    }

    private static int leastLoaded(double[] loads) {
        int least = 0;
        for (int i = 1; i < loads.length; i++) {
            least = loads[i] < loads[least] ? i : least;
        }
        return least;
    }

    private void merge(double[] loads, List<PartLoad> parts, List<Step> steps) {
        Map<GroupPart, PartLoad> halves = new HashMap<>();
        for (PartLoad part : parts) {
            if (!part.part().isWhole()) {
                halves.put(part.part(), part);
            }
        }
        for (PartLoad part : parts) { // in an order that repeats; from the deepest, one level in a call
            PartLoad other =
                    part.part().isWhole() ? null : halves.get(part.part().sibling());
            if (other == null || part.part().prefix() % 2 != 0 || steps.size() >= MOST_STEPS) {
                continue;
            }
            int to = loads[part.worker()] <= loads[other.worker()] ? part.worker() : other.worker();
            int from = to == part.worker() ? other.worker() : part.worker();
            double moved = from == to ? 0 : to == part.worker() ? other.load() : part.load();
            if (loads[to] + moved < alpha && loads[from] < alpha) {
                loads[from] -= moved;
                loads[to] += moved;
                steps.add(new Merge(part.part().parent(), to));
            }
        }
    }
}
