package dev.millrace.scheduler.assignment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.scheduler.assignment.Step.Merge;
import dev.millrace.scheduler.assignment.Step.Move;
import dev.millrace.scheduler.assignment.Step.Split;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Whatever is split, moved and merged: a member is in one part, which has one home. */
final class GroupHomesTest {
    private static final int WORKERS = 8;

    @Test
    void halvesOfAPartHaveItsMembersBetweenThem() {
        SplittableRandom random = new SplittableRandom(5);
        for (int round = 0; round < 10_000; round++) {
            int depth = random.nextInt(GroupPart.MOST_DEPTH);
            GroupPart part = new GroupPart(3, depth, random.nextInt(1 << depth));
            int hash = GroupPart.hash(random.nextLong());
            int halves = (part.half(0).contains(hash) ? 1 : 0) + (part.half(1).contains(hash) ? 1 : 0);
            assertEquals(part.contains(hash) ? 1 : 0, halves);
            assertEquals(part, part.half(1).parent());
            assertEquals(part.half(0), part.half(1).sibling());
        }
        assertThrows(IllegalArgumentException.class, () -> new GroupPart(1, 2, 4));
    }

    @Test
    void membersAreSpreadEvenlyWhateverTheirNumbersAre() {
        for (long factor : new long[] {1, 1_000, 1L << 32}) {
            int[] counts = new int[16];
            for (long i = 0; i < 16_000; i++) {
                counts[GroupPart.hash(i * factor) >>> 28]++;
            }
            for (int count : counts) {
                assertTrue(count > 800 && count < 1_200, factor + ": " + count);
            }
        }
    }

    @Test
    void whatIsGoneIsNotChanged() {
        GroupHomes table = new GroupHomes(2, bound -> 0);
        GroupPart whole = GroupPart.whole(1);
        table.add(1, new double[2]);
        assertFalse(table.apply(new Merge(whole, 0)));
        assertTrue(table.apply(new Split(whole)));
        assertFalse(table.apply(new Split(whole)));
        assertFalse(table.apply(new Move(whole, 0, 1)));
        assertTrue(table.apply(new Move(whole.half(1), 0, 1)));
        assertTrue(table.apply(new Merge(whole, 1)));
        assertEquals(1, table.homeOf(1, 77));
        assertThrows(IllegalArgumentException.class, () -> table.apply(new Move(whole, 1, 2)));
        table.remove(1);
        assertEquals(0, table.groups());
        assertFalse(table.apply(new Move(whole, 1, 0)));
        assertThrows(IllegalArgumentException.class, () -> table.homeOf(1, 77));
    }

    @Test
    void anySequenceOfStepsLeavesEachMemberInOnePart() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        GroupHomes table = new GroupHomes(WORKERS, random::nextInt);
        for (int group = 0; group < 5; group++) {
            table.add(group, table.loads());
        }
        for (int step = 0; step < 5_000; step++) {
            List<PartLoad> parts = table.parts();
            PartLoad part = parts.get(random.nextInt(parts.size()));
            table.apply(
                    switch (random.nextInt(3)) {
                        case 0 -> new Move(part.part(), part.worker(), random.nextInt(WORKERS));
                        case 1 -> part.part().depth() > 8 ? new Move(part.part(), 0, 0) : new Split(part.part());
                        default ->
                            part.part().isWhole()
                                    ? new Split(part.part())
                                    : new Merge(part.part().parent(), random.nextInt(WORKERS));
                    });
            long member = random.nextLong();
            int group = random.nextInt(5);
            GroupPart of = table.partOf(group, member);
            long containing = table.parts().stream()
                    .filter(each -> each.part().group() == group && each.part().contains(GroupPart.hash(member)))
                    .peek(each -> assertEquals(of, each.part()))
                    .count();
            assertEquals(1, containing, "seed " + seed + ", step " + step);
            assertEquals(table.homeOf(of).orElseThrow(), table.homeOf(group, member));
        }
    }

    /**
     * A simulated minute with 10,000 members that come or go a second, rebalancing twice a second and a crash now and then, after which the table is made
     * anew from what is durable: the members that there are, and the events that were not processed. Each event is processed once, for its member,
     * while that is there, in the order in which its events came, and by the worker that has it then.
     */
    @Test
    void churnLosesDoublesAndMisroutesNothing() {
        long seed = System.nanoTime();
        new Churn(seed).run(60);
    }

    private record Event(long group, long member, long number) {}

    private static final class Churn {
        private static final int CHANGES = 10_000; // a second
        private static final int EVENTS = 10_000;
        private static final long PERIOD_NANOS = 500_000_000;
        private final long seed;
        private final SplittableRandom random;
        private final List<long[]> members = new ArrayList<>(); // group, member: what is durable
        private final Map<Long, Integer> places = new HashMap<>(); // in the list
        private final Map<Long, long[]> counts = new HashMap<>(); // of a member: events that came, that were processed
        private Map<GroupPart, ArrayDeque<Event>> queues = new HashMap<>();
        private GroupHomes table;
        private double[] loads = new double[WORKERS];
        private long nextMember;
        private long forgotten; // events of members that went
        private long came;
        private long processed;

        Churn(long seed) {
            this.seed = seed;
            this.random = new SplittableRandom(seed);
            this.table = new GroupHomes(WORKERS, random::nextInt);
        }

        void run(int seconds) {
            long steps = 0;
            for (int half = 0; half < 2 * seconds; half++) {
                for (int i = 0; i < CHANGES / 2; i++) {
                    change();
                    event();
                    if (i % 3 == 0) {
                        process(random.nextInt(7));
                    }
                }
                if (random.nextInt(12) == 0) {
                    crash();
                }
                table.endPeriod(PERIOD_NANOS);
                List<PartLoad> parts = table.parts();
                for (Step step : Rebalancing.PLUTO.steps(WORKERS, parts)) {
                    if (random.nextInt(10) == 0) {
                        change(); // in the midst of it
                    }
                    steps += carryOut(step) ? 1 : 0;
                }
                loads = table.loads();
            }
            process(Integer.MAX_VALUE);
            String what = "seed " + seed;
            assertTrue(steps > 100, what + ": " + steps + " steps");
            assertEquals(came, processed + forgotten, what);
            counts.forEach((member, count) -> assertEquals(count[0], count[1], what + ", member " + member));
            long known = table.parts().stream()
                    .map(part -> part.part().group())
                    .distinct()
                    .mapToLong(table::members)
                    .sum();
            assertEquals(members.size(), known, what);
        }

        /** Groups by Zipf's law. */
        private long group() {
            return (long) Math.exp(random.nextDouble() * Math.log(200));
        }

        private void change() {
            if (members.size() < 5_000 || random.nextInt(2) == 0 && members.size() < 20_000) {
                long member = nextMember++;
                long group = group();
                places.put(member, members.size());
                members.add(new long[] {group, member});
                counts.put(member, new long[2]);
                table.add(group, loads);
                return;
            }
            long[] gone = members.get(random.nextInt(members.size()));
            GroupPart part = table.partOf(gone[0], gone[1]);
            ArrayDeque<Event> queue = queues.get(part);
            if (queue != null) {
                int before = queue.size();
                queue.removeIf(event -> event.member() == gone[1]);
                forgotten += before - queue.size();
            }
            table.remove(gone[0]);
            int place = places.remove(gone[1]);
            long[] last = members.remove(members.size() - 1);
            if (last != gone) {
                members.set(place, last);
                places.put(last[1], place);
            }
            long[] count = counts.remove(gone[1]);
            assertTrue(count[1] <= count[0]);
        }

        private void event() {
            long[] of = members.get(random.nextInt(members.size()));
            deliver(new Event(of[0], of[1], ++counts.get(of[1])[0]));
            came++;
        }

        private void deliver(Event event) {
            GroupPart part = table.partOf(event.group(), event.member());
            queues.computeIfAbsent(part, each -> new ArrayDeque<>()).add(event);
            table.meter(part).arrived(1);
        }

        private void process(int most) {
            int left = most;
            for (Map.Entry<GroupPart, ArrayDeque<Event>> each : queues.entrySet()) {
                while (left > 0 && !each.getValue().isEmpty()) {
                    Event event = each.getValue().remove();
                    left--;
                    assertEquals(each.getKey(), table.partOf(event.group(), event.member()), "seed " + seed);
                    long[] count = counts.get(event.member());
                    assertEquals(count[1] + 1, event.number(), "seed " + seed + ", member " + event.member());
                    count[1]++;
                    processed++;
                    table.meter(each.getKey()).processed(1, 400_000 + event.group() % 7 * 100_000);
                }
                if (left == 0) {
                    return;
                }
            }
        }

        private boolean carryOut(Step step) {
            List<GroupPart> before = step instanceof Merge
                    ? List.of(step.part().half(0), step.part().half(1))
                    : List.of(step.part());
            if (!table.apply(step)) {
                return false;
            }
            List<Event> waiting = new ArrayList<>();
            before.forEach(part -> {
                ArrayDeque<Event> queue = queues.remove(part);
                waiting.addAll(queue == null ? List.of() : queue);
            });
            for (Event event : waiting) {
                GroupPart part = table.partOf(event.group(), event.member());
                queues.computeIfAbsent(part, each -> new ArrayDeque<>()).add(event);
            }
            return true;
        }

        /** What waited is told again, by members in the order of their numbers, as a log would. */
        private void crash() {
            Map<Long, List<Event>> waiting = new HashMap<>();
            queues.values()
                    .forEach(queue ->
                            queue.forEach(event -> waiting.computeIfAbsent(event.member(), each -> new ArrayList<>())
                                    .add(event)));
            queues = new HashMap<>();
            table = new GroupHomes(WORKERS, random::nextInt);
            loads = new double[WORKERS];
            members.forEach(member -> table.add(member[0], loads));
            for (long[] member : members) {
                waiting.getOrDefault(member[1], List.of()).forEach(this::deliver);
            }
        }
    }
}
