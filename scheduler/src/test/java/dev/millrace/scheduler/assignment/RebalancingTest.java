package dev.millrace.scheduler.assignment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.scheduler.assignment.Step.Merge;
import dev.millrace.scheduler.assignment.Step.Move;
import dev.millrace.scheduler.assignment.Step.Split;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Loads in, steps out: the paper's rules, by hand and at random. */
final class RebalancingTest {
    private static final Rebalancing PLUTO = Rebalancing.PLUTO;

    private static PartLoad part(long group, int worker, double load) {
        return new PartLoad(GroupPart.whole(group), worker, load, 1_000);
    }

    @Test
    void whatIsBetweenAlphaAndBetaStays() {
        assertEquals(List.of(), PLUTO.steps(2, List.of(part(1, 0, .9), part(2, 1, .1))));
        assertEquals(List.of(), PLUTO.steps(2, List.of(part(1, 0, 1.5), part(2, 1, .8)))); // nobody is underloaded
    }

    @Test
    void theGreatestPartGoesWhereItFits() {
        assertEquals(
                List.of(new Move(GroupPart.whole(1), 0, 2)),
                PLUTO.steps(3, List.of(part(1, 0, .6), part(2, 0, .5), part(3, 1, .5), part(4, 2, .3))));
    }

    @Test
    void whatFitsNowhereIsSplitUntilItDoes() {
        GroupPart whole = GroupPart.whole(1);
        GroupPart half = whole.half(0);
        assertEquals(
                List.of(
                        new Split(whole),
                        new Split(whole.half(0)),
                        new Split(whole.half(1)),
                        new Move(half.half(0), 0, 1)),
                PLUTO.steps(2, List.of(part(1, 0, 1.2), part(2, 1, .6))));
    }

    @Test
    void oneMemberIsNotSplit() {
        List<PartLoad> heavy =
                List.of(new PartLoad(GroupPart.whole(1), 0, 1.2, 1), new PartLoad(GroupPart.whole(2), 0, .1, 1));
        assertEquals(List.of(new Move(GroupPart.whole(2), 0, 1)), PLUTO.steps(2, heavy));
    }

    @Test
    void halvesAreMergedWhereBothFitBelowAlpha() {
        GroupPart whole = GroupPart.whole(1);
        PartLoad zero = new PartLoad(whole.half(0), 0, .3, 10);
        PartLoad one = new PartLoad(whole.half(1), 1, .3, 10);
        assertEquals(List.of(new Merge(whole, 0)), PLUTO.steps(2, List.of(zero, one)));
        assertEquals(List.of(), PLUTO.steps(2, List.of(zero, one, part(2, 0, .4), part(3, 1, .4))));
    }

    @Test
    void thresholdsAreInTheirOrder() {
        assertThrows(IllegalArgumentException.class, () -> new Rebalancing(.95, .8));
        assertThrows(IllegalArgumentException.class, () -> new Rebalancing(Double.NaN, 1));
    }

    /** Each step does what the paper allows, no load is lost, and when there is room for all nobody stays overloaded. */
    @Test
    void anyLoadsAreBalancedByAllowedSteps() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 2_000; round++) {
            int workers = random.nextInt(1, 9);
            double total = workers * random.nextDouble(.05, 1.3);
            List<PartLoad> parts = new ArrayList<>();
            int groups = random.nextInt(1, 40);
            double[] weights =
                    random.doubles(groups).map(each -> Math.pow(each, 4)).toArray();
            double sum = Arrays.stream(weights).sum();
            for (int group = 0; group < groups; group++) {
                parts.add(part(group, random.nextInt(workers), total * weights[group] / sum));
            }
            String what = "seed " + seed + ", round " + round;
            Map<GroupPart, PartLoad> after = carriedOut(workers, parts, what);
            double[] loads = Rebalancing.loads(workers, List.copyOf(after.values()));
            double rest = 0;
            for (double load : loads) {
                rest += load;
            }
            assertEquals(total, rest, 1e-9 * groups, what);
            boolean hasRoom = Arrays.stream(loads).anyMatch(load -> load < PLUTO.alpha());
            for (double load : loads) {
                assertTrue(!hasRoom || load < PLUTO.beta() + 1e-9, () -> what + ": " + Arrays.toString(loads));
            }
        }
    }

    private static Map<GroupPart, PartLoad> carriedOut(int workers, List<PartLoad> before, String what) {
        Map<GroupPart, PartLoad> parts = new HashMap<>();
        before.forEach(each -> parts.put(each.part(), each));
        for (Step step : PLUTO.steps(workers, before)) {
            double[] loads = Rebalancing.loads(workers, List.copyOf(parts.values()));
            PartLoad part = parts.remove(step.part());
            if (step instanceof Move move) {
                assertEquals(move.from(), part.worker(), what);
                assertTrue(loads[move.from()] >= PLUTO.beta() - 1e-9, what);
                assertTrue(loads[move.to()] < PLUTO.alpha(), what);
                assertTrue(loads[move.to()] + part.load() < PLUTO.beta(), what);
                parts.put(part.part(), new PartLoad(part.part(), move.to(), part.load(), part.members()));
            } else {
                assertTrue(step instanceof Split && part.members() > 1, what);
                for (int bit = 0; bit < 2; bit++) {
                    GroupPart half = part.part().half(bit);
                    parts.put(half, new PartLoad(half, part.worker(), part.load() / 2, (part.members() + 1 - bit) / 2));
                }
            }
        }
        return parts;
    }
}
